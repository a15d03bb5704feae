internal import ByteText

/// The identifier of a client (RFC 6749, section 2.2). Its bytes are compared: the comparison of strings normalises them,
/// which costs up to some thousand instructions for each byte, and finds ids equal that are different to a server.
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
  public static func isIssued(_ text: String) -> Bool { text.utf8.span.starts(with: issuedPrefix.utf8.span) }

  /// Returns false for a text that would cost much to compare and to look up (``FormParameters/maximumUnicodeBytes``). It
  /// is the id of no client.
  public static func isComparable(_ text: String) -> Bool {
    text.utf8.count <= FormParameters.maximumUnicodeBytes || text.utf8.span.isASCII
  }

  /// Returns true if the bytes of both ids are equal.
  public static func == (left: ClientID, right: ClientID) -> Bool {
    left.rawValue.utf8.span.isEqual(to: right.rawValue.utf8.span)
  }

  /// Hashes the bytes of the id.
  public func hash(into hasher: inout Hasher) {
    let bytes = rawValue.utf8.span
    // The hash of an ASCII string is that of its bytes, in one piece. All ids of policies are ASCII.
    guard !bytes.isASCII else { return rawValue.hash(into: &hasher) }
    for index in bytes.indices { hasher.combine(bytes[index]) }
  }

  /// The value of `client_id`.
  public var description: String { rawValue }
}
