internal import ByteText

/// The identifier of a client (RFC 6749, section 2.2). Ids of different lengths are different, and long ones are compared
/// as bytes: the comparison of strings normalises them, which costs up to some thousand instructions for each byte, and finds
/// ids equal that are different to a server.
public struct ClientID: Hashable, Sendable, CustomStringConvertible {
  /// The value of `client_id`, decoded.
  public let rawValue: String

  /// Wraps a value of `client_id`, decoded.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// The beginning of every id that the gateway issues. No client of a policy may have such an id.
  public static let issuedPrefix = "pg1."
  /// The maximum length, in characters, of an id that the gateway issues. It is part of the state that goes through the
  /// upstream, and of every token request.
  public static let maximumIssuedLength = 1_024

  /// Returns true if the text looks like an id that the gateway issued.
  public static func isIssued(_ text: String) -> Bool { text.hasPrefix(issuedPrefix) }

  /// Returns false for a text that would cost much to compare and to look up (``FormParameters/maximumUnicodeBytes``). It
  /// is the id of no client.
  public static func isComparable(_ text: String) -> Bool {
    text.utf8.count <= FormParameters.maximumUnicodeBytes || text.utf8.span.isASCII
  }

  /// The length, in bytes, up to which ids are compared and hashed as strings, which is faster for ASCII. Ids of a policy have
  /// at most 256.
  private static let maximumLengthAsString = 256

  /// Returns true if the ids are equal.
  public static func == (left: ClientID, right: ClientID) -> Bool {
    guard left.rawValue.utf8.count == right.rawValue.utf8.count else { return false }
    guard left.rawValue.utf8.count > maximumLengthAsString else { return left.rawValue == right.rawValue }
    return left.rawValue.utf8.span.isEqual(to: right.rawValue.utf8.span)
  }

  /// Hashes the id.
  public func hash(into hasher: inout Hasher) {
    guard rawValue.utf8.count > ClientID.maximumLengthAsString else { return rawValue.hash(into: &hasher) }
    let bytes = rawValue.utf8.span
    var index = 0
    while index <= bytes.count &- 8 {
      hasher.combine(bytes.word(at: index))
      index &+= 8
    }
    hasher.combine(bytes.word(at: bytes.count &- 8))
  }

  /// The value of `client_id`.
  public var description: String { rawValue }
}
