internal import Bytes

/// The content types and codings that the form parser may read (RFC 6749, appendix B).
public enum FormContent {
  /// - Parameters:
  ///   - types: The values of all `Content-Type` fields.
  ///   - encodings: The values of all `Content-Encoding` fields: a coded body is not what it seems.
  public static func isForm(types: [String], encodings: [String]) -> Bool {
    guard types.count == 1, encodings.allSatisfy({ $0.lowercased() == "identity" }) else { return false }
    // As nearly all clients write it.
    if types[0].isEqualIgnoringCase(to: "application/x-www-form-urlencoded") { return true }
    // Bytes: next to a combining mark a semicolon is no character of its own, and still begins a parameter.
    let parts = types[0].utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { String(decoding: trimmed($0), as: UTF8.self).lowercased() }
    guard parts[0] == "application/x-www-form-urlencoded" else { return false }
    // Another charset would turn harmless bytes into parameters behind the gateway.
    return parts.dropFirst().allSatisfy { parameter in
      guard parameter.hasPrefix("charset") else { return true }
      return ["charset=utf-8", "charset=\"utf-8\"", "charset=us-ascii"].contains(parameter)
    }
  }

  private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var text = text.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    return text
  }
}
