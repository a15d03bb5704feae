internal import ByteText

/// The identifier of a protected resource (RFC 8707, section 2; RFC 9728, section 1.2): an absolute URI without a
/// fragment, kept as written. Two identifiers are equal only if their bytes are equal.
public struct ResourceURI: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length in bytes. The identifier is part of sealed values, which some servers accept only in a short
  /// `state`.
  public static let maximumLength = 256

  /// The identifier as written. It consists of printable ASCII characters.
  public let text: String

  /// Parses an identifier; `nil` if the text is not an absolute URI, contains a fragment or is too long.
  public init?(parsing text: String) {
    let bytes = text.utf8.span
    guard bytes.count <= ResourceURI.maximumLength, let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      colon + 1 < bytes.count, bytes[0].isLowercaseLetter || bytes[0].isUppercaseLetter
    else { return nil }
    for index in 0..<colon where !(bytes[index].isLetterOrDigit || ResourceURI.isSchemePunctuation(bytes[index])) {
      return nil
    }
    for index in bytes.indices where !ResourceURI.isURIByte(bytes[index]) { return nil }
    self.text = text
  }

  /// The identifier as written.
  public var description: String { text }

  /// Returns the text of a URI with its scheme and host in lower case (RFC 3986, section 6.2.2.1). A URI without `//` or
  /// with user information, whose letter case has a meaning, stays as it is.
  public static func caseNormalised(_ text: String) -> String {
    guard let start = text.firstRange(of: "://")?.upperBound else { return text }
    let end = text[start...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
    guard !text[start..<end].contains("@") else { return text }
    return text[..<end].lowercased() + text[end...]
  }

  private static func isSchemePunctuation(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }

  /// Returns true for the characters of a URI without a fragment (RFC 3986, appendix A).
  private static func isURIByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
      UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
      false
    default: byte > 0x20 && byte < 0x7f
    }
  }
}
