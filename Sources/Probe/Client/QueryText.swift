import ByteText

/// The parameters of a query or form that a server or a user wrote.
enum QueryText {
  /// Returns the decoded parameters by name; the first of several with the same name counts. Parameters that cannot be
  /// decoded are left out.
  static func pairs(_ text: some StringProtocol) -> [String: String] {
    var pairs: [String: String] = [:]
    for pair in text.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(parts[0]), let value = parts.count > 1 ? decoded(parts[1]) : "", pairs[name] == nil
      else { continue }
      pairs[name] = value
    }
    return pairs
  }

  private static func decoded(_ text: some StringProtocol) -> String? {
    let bytes = Array(text.utf8)
    guard let decoded = PercentDecoding.strict(bytes.span, plusIsSpace: true) else { return nil }
    return String(validating: decoded.span)
  }
}
