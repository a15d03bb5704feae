/// A response that is in memory as a whole: a response that the gateway creates, or an upstream response whose body the
/// gateway has to read. Also the head of an upstream response, in which case `body` is empty.
///
/// `headers` never contains the framing fields `Content-Length`, `Transfer-Encoding` and `Connection`. They are added
/// when the response is sent.
public struct Response: Sendable {
  /// The status code, 200 to 599.
  public var status: Int
  /// The reason phrase of an upstream response; `nil` for the phrase that RFC 9110, section 15, defines for the status.
  public var reason: String?
  /// The header fields without framing fields.
  public var headers: Headers
  /// The body without its transfer coding.
  public var body: [UInt8]
  /// The id of the rule by which the gateway refuses the request, for the access log; never sent.
  public var rule: String?

  /// Creates a response.
  public init(status: Int, reason: String? = nil, headers: Headers = Headers(), body: [UInt8] = []) {
    self.status = status
    self.reason = reason
    self.headers = headers
    self.body = body
  }
}
