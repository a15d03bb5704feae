import Policy
import YAML

extension ListenerSettings: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<ListenerSettings>(
    table,
    [
      "address": { if let address = $0.listenerAddress($1) { $2.address = address } },
      "tls": { $2.tls = $0.listenerTLS($1) },
      "owner": { $2.unixSocket.owner = $0.fileOwner($1) },
      "mode": { if let mode = $0.fileMode($1) { $2.unixSocket.mode = mode } },
      "local": { if let isLocal = $0.flag($1) { $2.unixSocket.isLocal = isLocal } },
    ])
}

extension PolicyReader {
  /// Reads `listeners:` and reports addresses that occur twice. Port 0, with which the system chooses a free port, may
  /// occur more than once.
  func listeners(_ field: Field) -> [(value: ListenerSettings, node: YAMLNode)] {
    var listeners: [(value: ListenerSettings, node: YAMLNode)] = []
    var seen: [ListenerAddress: YAMLNode] = [:]
    let items = list(field)
    if items.isEmpty, field.node.kind == .sequence {
      error(.missingValue, field.node, "`listeners` is empty; add an item such as `- address: 127.0.0.1:8080`")
    }
    for item in items {
      guard let listener = listener(item) else { continue }
      if listener.address.socketAddress?.port != 0, let first = seen[listener.address] {
        error(
          .duplicateValue, item.node,
          "address `\(listener.address)` is listened on twice, first in line \(first.mark.line); remove one")
      }
      if case .tcp(let address) = listener.address, seen[listener.address] == nil,
        let other = listeners.first(where: { Self.collide($0.value.address, address) })
      {
        error(
          .duplicateValue, item.node,
          "`\(listener.address)` and the listener in line \(other.node.mark.line) both need port \(address.port); remove one, "
            + "or give it another port")
      }
      seen[listener.address] = item.node
      listeners.append((listener, item.node))
    }
    return listeners
  }

  private func listener(_ item: Field) -> ListenerSettings? {
    var listener = ListenerSettings.table.defaults()
    guard let fields = read(item.node, ListenerSettings.section, into: &listener) else { return nil }
    requireSettings(of: ListenerSettings.section, in: fields, item.node, named: "the listener")
    for name in ["owner", "mode", "local"] {
      guard let field = fields[name], listener.address.socketAddress != nil else { continue }
      error(
        .conflict, field.node,
        "`\(name)` is only for a Unix-domain socket; remove it, or use an `address` such as `unix:/run/proofgate.sock`")
    }
    if let field = fields["mode"] ?? fields["owner"], case .unixSocket(let path) = listener.address, path.hasPrefix("@")
    {
      error(
        .conflict, field.node,
        "an abstract name has no file, so it has no owner and no mode; remove `\(field.name)`, or use a path")
    }
    // The host is still that of the defaults, an empty text, if the address is missing or invalid.
    return listener.address.socketAddress?.host.isEmpty == true ? nil : listener
  }

  /// Reads an address literal with a port, or `unix:` and a path.
  fileprivate func listenerAddress(_ field: Field) -> ListenerAddress? {
    guard let text = field.node.text, text.hasPrefix("unix:") else { return address(field).map { .tcp($0) } }
    return unixSocketPath(text.dropFirst(5), field, example: "proofgate").map { .unixSocket(path: $0) }
  }

  /// Reads the path or abstract name of a Unix-domain socket.
  func unixSocketPath(_ path: Substring, _ field: Field, example: String) -> String? {
    // The kernel permits 108 bytes, which include a zero byte at the end of a path or at the start of an abstract name
    // (unix(7)).
    let isVisible = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard path.hasPrefix("/") || path.hasPrefix("@"), (2...107).contains(path.utf8.count), isVisible else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted("unix:\(path)")); use an absolute path of at most 107 characters without "
          + "spaces, such as `unix:/run/\(example).sock`, or `unix:@NAME` for an abstract name")
      return nil
    }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    guard path.hasPrefix("@") || !segments.contains(where: { ["", ".", ".."].contains($0) }) else {
      error(
        .invalidValue, field.node,
        "`\(field.name)` cannot be \(quoted("unix:\(path)")); write the path without `//`, `.`, `..` and a slash at the "
          + "end")
      return nil
    }
    return String(path)
  }

  fileprivate func fileOwner(_ field: Field) -> FileOwner? {
    guard let text = text(field) else { return nil }
    if let owner = FileOwner(text) { return owner }
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use a user and a group, such as `proofgate:www-data` or `:33`")
    return nil
  }

  fileprivate func fileMode(_ field: Field) -> UInt32? {
    guard let text = text(field) else { return nil }
    let digits = text.utf8.count == 4 && text.hasPrefix("0") ? text.dropFirst() : text[...]
    if digits.utf8.count == 3, digits.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
      let mode = UInt32(digits, radix: 8)
    {
      return mode
    }
    error(
      .invalidValue, field.node,
      "`\(field.name)` cannot be \(quoted(text)); use three octal digits, such as `\"0660\"`")
    return nil
  }

  /// Reads an address literal with a port: `127.0.0.1:8080` or `[::1]:8080`.
  func address(_ field: Field) -> SocketAddress? {
    guard let text = text(field) else { return nil }
    if let colon = text.lastIndex(of: ":") {
      let digits = text[text.index(after: colon)...]
      var host = text[..<colon]
      let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
      if isBracketed { host = host.dropFirst().dropLast() }
      let isLiteral = isBracketed ? AddressText.parseIPv6(host) != nil : AddressText.parseIPv4(host) != nil
      if isLiteral, AddressText.isCanonicalNumber(digits), let port = Int(digits), port <= 65_535 {
        return SocketAddress(host: String(host).lowercased(), port: port)
      }
    }
    let hint =
      text.hasPrefix("localhost:")
      ? "a name is not an address, use `127.0.0.1:\(text.dropFirst(10))`"
      : "use an address literal and a port, such as `127.0.0.1:8080` or `[::]:8080`"
    error(.invalidValue, field.node, "`\(field.name)` cannot be \(quoted(text)); \(hint)")
    return nil
  }

  func trustedProxies(_ field: Field) -> [AddressRange] {
    list(field, allowsSingleValue: true).compactMap(addressRange)
  }

  private func addressRange(_ field: Field) -> AddressRange? {
    guard let text = text(field) else { return nil }
    if text == "unix" { return .unixSockets }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count <= 2, let first = parts.first, let network = AddressText.parse(first) else {
      return refuseRange(field, text, "use an address, a block such as `10.0.0.0/8` or `fd00::/8`, or `unix`")
    }
    // An IPv4 address is mapped to IPv6, so its prefix is 96 bits longer.
    let offset = first.contains(":") ? 0 : 96
    var length = 128
    if parts.count == 2 {
      guard AddressText.isCanonicalNumber(parts[1]), let bits = Int(parts[1]), bits + offset <= 128 else {
        return refuseRange(field, text, "the prefix is a number from 0 to \(128 - offset)")
      }
      length = bits + offset
    }
    let hasOnlyZerosAfterPrefix = (length..<128).allSatisfy { network[$0 / 8] & (0x80 >> ($0 % 8)) == 0 }
    guard hasOnlyZerosAfterPrefix else {
      return refuseRange(field, text, "it has bits after the prefix; set them to zero")
    }
    if length == offset {
      warn(.trustEveryone, field.node, "\(quoted(text)) trusts every peer; list the addresses of your proxies")
    }
    return AddressRange(network: network, prefixLength: length)
  }

  /// Reports an invalid range. The result is always `nil`, so that the caller can return it.
  private func refuseRange(_ field: Field, _ text: String, _ hint: String) -> AddressRange? {
    error(.invalidValue, field.node, "`\(field.name)` cannot hold \(quoted(text)); \(hint)")
    return nil
  }
}
