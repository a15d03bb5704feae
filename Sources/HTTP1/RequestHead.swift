/// A parsed and validated request head: offsets into the bytes from which it was parsed.
public struct RequestHead: Sendable {
  /// The request method.
  public let method: Method
  /// The method as sent.
  public let methodRange: Range<Int>
  /// The target in origin form; for an absolute-form target, the part after the authority. Empty means `/`.
  public let target: Range<Int>
  /// The part of the target before the first `?`.
  public let path: Range<Int>
  /// The part after the first `?`, if any.
  public let query: Range<Int>?
  /// True if the target is `*` (only with OPTIONS).
  public let isAsterisk: Bool
  /// The host of an absolute-form target, else that of the Host field (RFC 9112, section 3.2.2); `nil` for HTTP/1.0
  /// without Host.
  public let host: Range<Int>?
  /// The minor version of HTTP/1: 0 or 1.
  public let minorVersion: Int
  /// The length of the head in bytes, including the empty line.
  public let length: Int
  /// The framing of the body.
  public let body: BodyFraming
  /// True if the client keeps the connection open.
  public let keepsAlive: Bool
  /// True if the client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
  public let expectsContinue: Bool
  /// The value of the one `Upgrade` field, if the `upgrade` option names it; else `nil`.
  public let upgrade: Range<Int>?
}

/// The way in which the end of a body is determined (RFC 9112, section 6.3).
public enum BodyFraming: Equatable, Sendable {
  case none
  /// A number of bytes, above 0.
  case length(Int)
  case chunked
  /// Ends when the connection closes; responses only.
  case untilClose
}
