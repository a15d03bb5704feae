internal import ByteText
import Policy
import YAML

/// The kind of messages that `request_headers` or `response_headers` of a route changes.
enum ChangedMessage {
  case request
  case response

  /// The names of the fields, in lower case, that no route may change, with the reasons. A name with `*` at its end
  /// matches all names with this beginning.
  private static let protected: [(names: [String], reason: String)] = [
    (
      [
        "connection", "content-encoding", "content-length", "content-range", "expect", "http2-settings", "keep-alive",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
      ],
      "the gateway writes the framing of each message itself"
    ),
    (["x-request-id", "traceparent", "tracestate"], "`request_ids` and `trace_context` of `gateway` decide on it"),
    (["sec-*"], "only browsers set it"),
  ]

  private static let protectedInRequests: [(names: [String], reason: String)] = [
    (
      ["via", "x-forwarded*", "x-http-method", "x-http-method-override", "x-method-override"]
        + PolicyReader.neverKept,
      "the gateway says itself which client, host and path a request has"
    ),
    (["authorization", "cookie", "proxy-authorization"], "it belongs to the user or the app"),
    (["content-type"], "the gateway decides by it whether a form is an OAuth request"),
    (
      ["origin", "referer", "x-csrf-token", "x-requested-with", "x-xsrf-token"],
      "servers recognize by it that one of their own pages has sent the request"
    ),
  ]

  private static let protectedInResponses: [(names: [String], reason: String)] = [
    (["content-location", "link", "location", "refresh"], "the gateway checks where it leads"),
    (["clear-site-data", "set-cookie"], "it would change the cookies of the server and of the gateway"),
    (["date"], "the gateway adds it where it is missing"),
    (["strict-transport-security"], "use `strict_transport_security` of `gateway`"),
  ]

  /// Returns the reason why no route may change a field with this name; `nil` if a route may.
  func protection(of name: String) -> String? {
    let name = name.lowercased()
    let others = self == .request ? ChangedMessage.protectedInRequests : ChangedMessage.protectedInResponses
    return (ChangedMessage.protected + others).first { row in
      row.names.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 }
    }?.reason
  }
}

/// The mapping `request_headers:` or `response_headers:` of a route.
private struct HeaderChangesDraft: SectionDraft {
  var settings = HeaderChanges()
  let message: ChangedMessage

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<HeaderChangesDraft>(
    HeaderChanges.table,
    [
      "set": { $2.settings.set = $0.setFields($1, in: $2.message) },
      "remove": { $2.settings.removed = $0.removedFields($1, in: $2.message) },
    ])
}

extension PolicyReader {
  func headerChanges(_ field: Field, to message: ChangedMessage) -> HeaderChanges {
    var draft = HeaderChangesDraft(message: message)
    guard let fields = read(field.node, HeaderChangesDraft.section, named: field.name, into: &draft) else {
      return HeaderChanges()
    }
    let changes = draft.settings
    if let set = fields["set"], changes.size > HeaderChanges.maximumSize {
      error(
        .invalidValue, set.key,
        "the fields of `set` have \(changes.size) bytes; a head has room for \(HeaderChanges.maximumSize)")
    }
    let removed = Set(changes.removed.map { $0.lowercased() })
    for change in changes.set where removed.contains(change.name.lowercased()) {
      error(
        .conflict, field.key,
        "\(quoted(change.name)) is both in `set` and in `remove`; `set` also removes the fields that it replaces, so "
          + "remove it from `remove`")
    }
    return changes
  }

  fileprivate func setFields(_ field: Field, in message: ChangedMessage) -> [HeaderChanges.Field] {
    guard field.node.kind == .mapping else {
      error(
        .wrongType, field.node,
        "`set` must be a mapping of names to values, such as `{ Cache-Control: no-store }`, not "
          + withArticle(field.node.kind))
      return []
    }
    var changes: [HeaderChanges.Field] = []
    for entry in field.node.entries {
      guard let name = entry.key.text, isChangeable(name, entry.key, in: field.name, of: message) else { continue }
      guard !changes.contains(where: { $0.name.lowercased() == name.lowercased() }) else {
        error(.duplicateValue, entry.key, "\(quoted(name)) occurs twice in `set`; keep one")
        continue
      }
      guard let value = text(Field(name: name, key: entry.key, node: entry.value)) else { continue }
      guard value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }), !value.hasPrefix(" "), !value.hasSuffix(" ") else {
        error(
          .invalidValue, entry.value,
          "\(quoted(name)) cannot be \(quoted(value)); use printable ASCII characters, without a space at an end")
        continue
      }
      changes.append(HeaderChanges.Field(name: name, value: value))
    }
    return changes
  }

  fileprivate func removedFields(_ field: Field, in message: ChangedMessage) -> [String] {
    var names: [String] = []
    for item in list(field, allowsSingleValue: true) {
      guard let name = text(item), isChangeable(name, item.node, in: field.name, of: message) else { continue }
      if names.contains(where: { $0.lowercased() == name.lowercased() }) {
        error(.duplicateValue, item.node, "\(quoted(name)) occurs twice in `remove`; keep one")
      } else {
        names.append(name)
      }
    }
    return names
  }

  /// Returns true if a route may change fields with this name. Otherwise reports the name.
  private func isChangeable(_ name: String, _ node: YAMLNode, in list: String, of message: ChangedMessage) -> Bool {
    // Servers that turn names into variable names confuse `X_A` with `X-A`.
    let isPlain =
      !name.isEmpty && !name.hasPrefix("-") && name.utf8.count <= 64
      && name.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
    let problem =
      isPlain ? message.protection(of: name) : "use a name of up to 64 letters, digits and hyphens"
    guard let problem else { return true }
    error(.invalidValue, node, "`\(list)` cannot hold \(quoted(name)); \(problem)")
    return false
  }
}
