/// A response that is held whole: the gateway's own, or an upstream's answer that had to be read.
///
/// Framing fields (`Content-Length`, `Transfer-Encoding`, `Connection`) are the codec's and never stand here.
public struct Response: Sendable {
  /// 200 to 599.
  public var status: Int
  /// The reason phrase of an upstream's response; `nil`: the usual one of the status (RFC 9110, section 15).
  public var reason: String?
  public var headers: Headers
  public var body: [UInt8]

  public init(status: Int, reason: String? = nil, headers: Headers = Headers(), body: [UInt8] = []) {
    self.status = status
    self.reason = reason
    self.headers = headers
    self.body = body
  }
}
