internal import ByteText

/// The facts from which the id of a request follows. The id appears in the log, on error pages, in responses and in
/// requests to the upstream.
public struct RequestReference: Sendable, Equatable {
  /// The name of the field with the id of a request.
  public static let fieldName = "X-Request-ID"
  /// The maximum length of an id that a trusted proxy chose, in bytes. The ids of common proxies have 20 to 64.
  public static let maximumLength = 128

  /// The sequence number of the request in its worker. Without a `proxyID`, the id is computed from it.
  public let number: UInt64
  /// The id in the `X-Request-ID` field of a trusted proxy; `nil` if there is none. Never from another peer: a program
  /// that chose the ids of its requests could hide them among those of others.
  public let proxyID: String?

  /// Creates the reference of one request.
  public init(number: UInt64 = 0, proxyID: String? = nil) {
    self.number = number
    self.proxyID = proxyID
  }

  /// Returns true if the text can be the id of a request: 1 to ``maximumLength`` letters, digits and characters of
  /// `-._~+/=:`. So an id needs no escape in a header field, in the log, in HTML or in the fragment of a URL.
  public static func isID(_ text: Span<UInt8>) -> Bool {
    guard (1...maximumLength).contains(text.count) else { return false }
    for index in text.indices {
      switch text[index] {
      case 0x2b, 0x2d, 0x2e, 0x2f, 0x3a, 0x3d, 0x5f, 0x7e: continue
      default: guard text[index].isLetterOrDigit else { return false }
      }
    }
    return true
  }
}
