/// A parsed and validated request head: offsets into the bytes from which it was parsed.
public struct RequestHead: Sendable {
  /// The request method.
  public let method: Method
  /// The method as sent.
  public let methodRange: Range<Int>
  /// The target in origin form, or `*`; for an absolute-form target, the part after the authority. The range is
  /// empty if that part is empty; it then means `*` with OPTIONS, otherwise `/` (RFC 9112, sections 3.2.1 and 3.2.4).
  public let target: Range<Int>
  /// The part of the target before the first `?`.
  public let path: Range<Int>
  /// The part after the first `?`, if any.
  public let query: Range<Int>?
  /// True if the target was sent as `*` (only with OPTIONS); false for an empty target.
  public let isAsterisk: Bool
  /// The host, with the port if one was sent, of an absolute-form target, otherwise that of the Host field (RFC 9112,
  /// section 3.2.2); `nil` for an HTTP/1.0 request with neither.
  public let host: Range<Int>?
  /// The minor version of HTTP/1: 0 or 1.
  public let minorVersion: Int
  /// The length of the head in bytes, including the empty line.
  public let length: Int
  /// The framing of the body.
  public let body: BodyFraming
  /// True if the client lets the connection stay open after this request.
  public let keepsAlive: Bool
  /// True if the client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
  public let expectsContinue: Bool
  /// The value of the only `Upgrade` field of an HTTP/1.1 request with the `Connection` option `upgrade`; otherwise
  /// `nil`.
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
