public import HTTP
public import Reactor

/// A request that the gateway itself makes and sends to the upstream, with `Upstream.send`.
public struct OutboundRequest {
  /// The method.
  public var method: String
  /// The request target in origin form.
  public var target: String
  /// The fields without Host, framing, hop-by-hop and forwarding fields, which the proxy adds.
  public var headers: Headers
  /// The body; empty for none.
  public var body: [UInt8]
  /// True if body or headers contain secrets, so that the buffers are wiped afterwards.
  public var isSecret: Bool
  /// The client, for the forwarding fields and the choice of an address.
  public var peer: Peer
  /// The time at which the response must be complete, for handlers that allow less time than the policy. The wait for a
  /// connection has its own limit.
  public var deadline: Deadline

  /// Creates a request.
  public init(
    method: String, target: String, headers: Headers, body: [UInt8] = [], isSecret: Bool = true, peer: Peer,
    deadline: Deadline = .never
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.isSecret = isSecret
    self.peer = peer
    self.deadline = deadline
  }
}
