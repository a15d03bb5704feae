extension DecisionRecord {
  /// The version of the line format. New members do not change it; a changed meaning of a member increments it.
  static let formatVersion = 1
  /// The number of bytes after which a client id is cut, so that a request cannot fill the disk.
  static let maximumClientLength = 256

  /// Appends the record as one line of JSON. Members that are `nil` are omitted.
  func write(to line: inout JSONLine) {
    line.open()
    line.field("v", DecisionRecord.formatVersion)
    line.field("time", Timestamp.text(time))
    line.field("event", "decision")
    if let request { line.field("request", request) }
    if let transaction { line.field("transaction", transaction) }
    if let family { line.field("family", family) }
    line.field("endpoint", endpoint.rawValue)
    if let client { line.field("client", DecisionRecord.cut(client)) }
    line.field("decision", decision.rawValue)
    if let rule { line.field("rule", rule) }
    line.field("status", status)
    line.field("mode", mode)
    if !findings.isEmpty { line.field("findings", findings) }
    if let redirectKind { line.field("redirect", redirectKind) }
    if let path { line.field("path", path) }
    if let upstreamStatus { line.field("upstream_status", upstreamStatus) }
    line.field("duration_us", Int(clamping: durationNanoseconds / 1000))
    line.field("peer", peer)
    line.field("policy", policyVersion)
    if let networks {
      line.field("first_network", networks.first)
      line.field("network", networks.repeated)
    }
    observed?.write(to: &line)
    line.close()
  }

  /// Returns the client id, shortened to `maximumClientLength` bytes and `...` if it is longer.
  private static func cut(_ client: String) -> String {
    guard client.utf8.count > maximumClientLength else { return client }
    // A character that is cut in the middle becomes the replacement character.
    return String(decoding: client.utf8.prefix(maximumClientLength), as: UTF8.self) + "..."
  }
}
