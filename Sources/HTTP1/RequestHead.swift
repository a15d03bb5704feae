/// A parsed and validated request head. Its ranges are offsets into the bytes from which it was parsed.
public struct RequestHead: Sendable {
  /// The request method.
  public let method: Method
  /// The range of the method's name, which is needed if `method` is `other`.
  public let methodRange: Range<Int>
  /// The target in origin form, or `*`. A target in absolute form is reduced to the part after its authority, and is
  /// empty if this part is missing. An empty target means `*` with OPTIONS, and `/` with other methods (RFC 9112,
  /// sections 3.2.1 and 3.2.4).
  public let target: Range<Int>
  /// The part of the target before the first `?`.
  public let path: Range<Int>
  /// The part of the target after the first `?`; `nil` without a `?`.
  public let query: Range<Int>?
  /// True if the target was sent as `*` (only with OPTIONS); false for an empty target.
  public let isAsterisk: Bool
  /// The host, and the port if one was sent. They are those of a target in absolute form, otherwise those of the Host
  /// field (RFC 9112, section 3.2.2). `nil` for an HTTP/1.0 request with neither.
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
  /// The value of the `Upgrade` field, if an HTTP/1.1 request has exactly one such field and the `Connection` option
  /// `upgrade`; otherwise `nil`.
  public let upgrade: Range<Int>?
}

/// The way in which the end of a body is determined (RFC 9112, section 6.3).
public enum BodyFraming: Equatable, Sendable {
  /// The message has no body, or an empty one.
  case none
  /// The length of the body in bytes, above 0.
  case length(Int)
  case chunked
  /// The body ends when the connection closes. Only for responses.
  case untilClose
}
