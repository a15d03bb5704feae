public import HTTP

/// A request of the gateway's own making to the upstream: what `respond` sends after it decided.
public struct OutboundRequest {
  public var method: String
  public var target: String
  /// Without Host, framing, hop-by-hop and forwarding fields: the proxy adds its own.
  public var headers: Headers
  public var body: [UInt8]
  /// True if the body or the headers hold secrets, so that the buffers are wiped afterwards.
  public var isSecret: Bool
  /// The client, for the forwarding fields.
  public var peer: Peer

  public init(
    method: String, target: String, headers: Headers, body: [UInt8] = [], isSecret: Bool = true, peer: Peer
  ) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
    self.isSecret = isSecret
    self.peer = peer
  }
}
