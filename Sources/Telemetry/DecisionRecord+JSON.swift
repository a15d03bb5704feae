internal import Time

extension DecisionRecord {
  /// The version of the line format. It is incremented when the meaning of a member changes, but not when a member is
  /// added.
  static let formatVersion = 1
  /// The number of bytes after which a client id is cut, so that a request cannot make a line arbitrarily long.
  static let maximumClientLength = 256

  /// The line of the record in the decision log, without its end.
  public var line: [UInt8] {
    var lines = JSONLines()
    write(to: &lines)
    return Array(lines.bytes.dropLast())
  }

  /// Appends the record as one line of JSON. Members that are `nil` are omitted.
  func write(to lines: inout JSONLines) {
    lines.beginLine()
    lines.appendMember("v", DecisionRecord.formatVersion)
    lines.appendMember("time", time)
    lines.appendMember("event", "decision")
    if let request { lines.appendMember("request", request) }
    // The flow of an observed request is that of its digests.
    if let flow, details?.flow == nil { lines.appendMember("flow", flow) }
    if let trace { lines.appendMember("trace", trace) }
    if let transaction { lines.appendMember("transaction", transaction) }
    if let family { lines.appendMember("family", family) }
    lines.appendMember("endpoint", endpoint.rawValue)
    if let client { lines.appendMember("client", DecisionRecord.cut(client)) }
    lines.appendMember("decision", decision.rawValue)
    if let step { lines.appendMember("step", step.rawValue) }
    // The grant of an observed request is among its details.
    if let grant, details?.grant == nil { lines.appendMember("grant", grant) }
    if let rule { lines.appendMember("rule", rule) }
    lines.appendMember("status", status)
    lines.appendMember("mode", mode)
    if !findings.isEmpty { lines.appendMember("findings", findings) }
    if let redirectKind { lines.appendMember("redirect", redirectKind) }
    if let path { lines.appendMember("path", path) }
    if let upstreamStatus { lines.appendMember("upstream_status", upstreamStatus) }
    lines.appendMember("duration_us", Int(clamping: durationNanoseconds / 1000))
    lines.appendMember("peer", peer)
    lines.appendMember("policy", policyVersion)
    if let networks {
      lines.appendMember("first_network", networks.first)
      lines.appendMember("network", networks.repeated)
    }
    details?.write(to: &lines)
    lines.endLine()
  }

  /// Returns the client id, or its first `maximumClientLength` bytes and `...` if it is longer.
  private static func cut(_ client: String) -> String {
    guard client.utf8.count > maximumClientLength else { return client }
    // A character that is cut in the middle becomes the replacement character.
    return String(decoding: client.utf8.prefix(maximumClientLength), as: UTF8.self) + "..."
  }
}
