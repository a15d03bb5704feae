internal import ByteText

/// A JWT with which a client authenticates (RFC 7523, section 3). Only the upstream can verify it.
public enum ClientAssertion {
  /// The maximum number of pieces into which quotation marks divide a payload. An assertion has about ten strings; each
  /// further one would cost work.
  public static let maximumPieces = 256

  /// The maximum length of an encoded payload in bytes. That of an assertion has a few hundred.
  public static let maximumPayloadBytes = 8 * 1024

  /// Returns the parts of the assertion in front of and behind each of its first two periods, of which the last one contains
  /// all other periods; `nil` if the payload, which is the second part, is longer than `maximumPayloadBytes`.
  public static func parts(of assertion: String) -> [Substring.UTF8View]? {
    let parts = assertion.utf8.split(separator: UInt8(ascii: "."), maxSplits: 2, omittingEmptySubsequences: false)
    return parts.count > 1 && parts[1].count > maximumPayloadBytes ? nil : parts
  }

  /// Returns the pieces between the quotation marks of a payload; `nil` if there are more than `maximumPieces`.
  public static func pieces(of payload: [UInt8]) -> [ArraySlice<UInt8>]? {
    let pieces = payload.split(
      separator: UInt8(ascii: "\""), maxSplits: maximumPieces, omittingEmptySubsequences: false)
    return pieces.count <= maximumPieces ? pieces : nil
  }

  /// Returns true if the assertion certainly identifies this client: in its payload, the strings `sub` and `iss` each
  /// occur once, as names of members whose value is the id.
  ///
  /// The payload is not parsed as JSON. If it contains a backslash, which may begin an escape, the result is false.
  public static func identifiesClient(_ id: ClientID, in assertion: String) -> Bool {
    guard let parts = parts(of: assertion), parts.count == 3, !parts[2].contains(UInt8(ascii: ".")),
      let payload = Base64URL.decode(String(Substring(parts[1]))), !payload.contains(UInt8(ascii: "\\")),
      let pieces = pieces(of: payload)
    else { return false }
    let expected = id.rawValue.utf8
    return [Array("sub".utf8), Array("iss".utf8)].allSatisfy { name in
      value(of: name, in: pieces)?.elementsEqual(expected) ?? false
    }
  }

  /// Returns the string that is the value of the member `name`. `nil` if the string `name` occurs several times or not
  /// at all, or is not the name of a member whose value is a string.
  private static func value(of name: [UInt8], in pieces: [ArraySlice<UInt8>]) -> ArraySlice<UInt8>? {
    // Without escapes, each piece with an odd index is the content of a string.
    let indices = pieces.indices.filter { $0 % 2 == 1 && pieces[$0].elementsEqual(name) }
    guard indices.count == 1, let index = indices.first, index + 2 < pieces.count,
      pieces[index + 1].filter({ !isSpace($0) }) == [UInt8(ascii: ":")]
    else { return nil }
    return pieces[index + 2]
  }

  /// True for white space in JSON (RFC 8259, section 2).
  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }
}
