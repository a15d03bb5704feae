internal import Time

extension DecisionRecord {
  /// The version of the line format. It is incremented if the meaning of a member changes, but not for new members.
  static let formatVersion = 1
  /// The number of bytes after which a client id is cut, so that a request cannot write a line of any length.
  static let maximumClientLength = 256

  /// Appends the record as one line of JSON. Members that are `nil` are omitted.
  func write(to line: inout JSONLine) {
    line.open()
    line.appendMember("v", DecisionRecord.formatVersion)
    line.appendMember("time", time.text)
    line.appendMember("event", "decision")
    if let request { line.appendMember("request", request) }
    if let transaction { line.appendMember("transaction", transaction) }
    if let family { line.appendMember("family", family) }
    line.appendMember("endpoint", endpoint.rawValue)
    if let client { line.appendMember("client", DecisionRecord.cut(client)) }
    line.appendMember("decision", decision.rawValue)
    if let rule { line.appendMember("rule", rule) }
    line.appendMember("status", status)
    line.appendMember("mode", mode)
    if !findings.isEmpty { line.appendMember("findings", findings) }
    if let redirectKind { line.appendMember("redirect", redirectKind) }
    if let path { line.appendMember("path", path) }
    if let upstreamStatus { line.appendMember("upstream_status", upstreamStatus) }
    line.appendMember("duration_us", Int(clamping: durationNanoseconds / 1000))
    line.appendMember("peer", peer)
    line.appendMember("policy", policyVersion)
    if let networks {
      line.appendMember("first_network", networks.first)
      line.appendMember("network", networks.repeated)
    }
    observed?.write(to: &line)
    line.close()
  }

  /// Returns the client id, or its first `maximumClientLength` bytes and `...` if it is longer.
  private static func cut(_ client: String) -> String {
    guard client.utf8.count > maximumClientLength else { return client }
    // A character that is cut in the middle becomes the replacement character.
    return String(decoding: client.utf8.prefix(maximumClientLength), as: UTF8.self) + "..."
  }
}
