internal import ByteText

/// A JWT with which a client authenticates (RFC 7523, section 3). Only the upstream can verify it.
public enum ClientAssertion {
  /// Returns true if the assertion certainly identifies this client: in its payload, the strings `sub` and `iss` each
  /// occur once, as names of members whose value is the id.
  ///
  /// The payload is not parsed as JSON. If it contains a backslash, which may begin an escape, the result is false.
  public static func identifiesClient(_ id: ClientID, in assertion: String) -> Bool {
    let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(String(parts[1])), !payload.contains(UInt8(ascii: "\\"))
    else { return false }
    let text = String(decoding: payload, as: UTF8.self)
    return value(of: "sub", in: text) == id.rawValue && value(of: "iss", in: text) == id.rawValue
  }

  /// Returns the string that is the value of the member `name`. `nil` if the string `name` occurs several times or not
  /// at all, or is not the name of a member whose value is a string.
  private static func value(of name: String, in text: String) -> String? {
    let pieces = text.split(separator: "\"", omittingEmptySubsequences: false)
    // Without escapes, each piece with an odd index is the content of a string.
    let indices = pieces.indices.filter { $0 % 2 == 1 && pieces[$0] == name }
    guard indices.count == 1, let index = indices.first, index + 2 < pieces.count,
      pieces[index + 1].allSatisfy({ $0 == ":" || $0.isWhitespace }), pieces[index + 1].contains(":")
    else { return nil }
    return String(pieces[index + 2])
  }
}
