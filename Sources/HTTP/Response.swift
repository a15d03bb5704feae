/// A response that is in memory as a whole: a response that the gateway creates, or an upstream response whose body it
/// has to read.
///
/// The codec adds the framing fields (`Content-Length`, `Transfer-Encoding`, `Connection`); `headers` never contains
/// them.
public struct Response: Sendable {
  /// The status, 200 to 599.
  public var status: Int
  /// The reason phrase of an upstream response; `nil` for the usual phrase of the status (RFC 9110, section 15).
  public var reason: String?
  /// The header fields without framing fields.
  public var headers: Headers
  /// The body without transfer coding.
  public var body: [UInt8]

  /// Creates a response.
  public init(status: Int, reason: String? = nil, headers: Headers = Headers(), body: [UInt8] = []) {
    self.status = status
    self.reason = reason
    self.headers = headers
    self.body = body
  }
}
