import HTTP1
public import HTTP2
public import Reactor
public import TLS

/// The configuration of a proxy.
public struct ProxyConfiguration: Sendable {
  /// Milliseconds from the first byte of a head to its end.
  public var headTimeout = 10_000
  /// Milliseconds without any progress of a body, in either direction.
  public var bodyTimeout = 60_000
  /// Milliseconds that a connection may wait for a next request.
  public var idleTimeout = 75_000
  /// Milliseconds that a refused request's body is still read, so that the answer is not lost in a reset.
  public var lingerTimeout = 2_000
  /// Bytes of a refused request's body that are still read.
  public var lingerBytes = 256 * 1024
  /// Milliseconds for an upstream connection to stand, over all of its addresses.
  public var connectTimeout = 5_000
  /// Milliseconds from the request's last byte to the response's head.
  public var responseTimeout = 60_000
  /// True if a client that ends its sending side cancels a safe request that has no response yet.
  public var cancelsHalfClosed = true
  /// Milliseconds that an unused upstream connection is kept.
  public var upstreamIdleTimeout = 30_000
  /// Milliseconds for which an idle upstream connection is trusted with a request that must not be sent twice.
  public var freshReuse = 1_000
  /// Upstream connections of one worker.
  public var upstreamConnections = 512
  /// Milliseconds that a request waits for an upstream connection when all are in use.
  public var queueTimeout = 5_000
  /// Bytes of an upstream response that is read whole.
  public var collectedBodyLimit = 1024 * 1024
  public var limits = ProxyLimits()
  /// The name in `Via`, by which loops are detected.
  public var pseudonym = "proofgate"
  /// `Host` towards the upstream.
  public var upstreamAuthority = ""
  /// The upstream's origin as it would stand in a `Location`, e.g. `http://127.0.0.1:9000`.
  public var upstreamOrigin = ""
  /// Host and port of the gateway, as a client names it.
  public var authority = ""
  /// The gateway's own origin, which replaces the upstream's in a `Location`.
  public var origin = ""
  /// A cookie of the gateway's own: never sent upstream, and no upstream can set it.
  public var privateCookie = ""
  /// True if a peer's forwarding fields are believed.
  public var trusts: @Sendable (Address) -> Bool = { _ in false }
  /// TLS of each listener, by its position; a listener beyond the end, or with `nil`, is plaintext.
  public var listeners: [TLSServer?] = []
  /// TLS towards the upstream; `nil` for plaintext.
  public var upstreamTLS: TLSClient?
  /// The value of `Strict-Transport-Security` on answers over TLS (RFC 6797, section 7.1); empty: the field is left out.
  public var strictTransportSecurity = ""
  /// True if cookies that the upstream sets get `Secure`: browsers reach the gateway over https.
  public var securesCookies = false
  /// Globs of names of request fields that only a trusted proxy may send, besides the built-in ones.
  public var strippedFields: [String] = []
  /// Globs of names of request fields that every client may send, although a built-in glob matches.
  public var keptFields: [String] = []
  /// Protocols, in lower case, that an `Upgrade` may name.
  public var upgrades: Set<String> = []
  /// Limits of HTTP/2 connections; `nil` where only HTTP/1.1 is spoken.
  public var http2: HTTP2Limits?

  public init() {}
}

/// How a proxy behaves: an immutable snapshot, exchanged whole between two requests.
///
/// A reference, because it is consulted several times for each request and a copy would count references of each field.
public final class ProxySettings: Sendable {
  let configuration: ProxyConfiguration
  /// The request fields that only a trusted proxy may send.
  let identityFields: IdentityFields
  /// True if no glob of the configuration can match the name of a common field.
  let passesCommonFields: Bool
  /// `Host: ...` and `Via: ...` lines, ready to be copied.
  let hostLine: [UInt8]
  let viaLine: [UInt8]
  let viaLineOfHTTP10: [UInt8]
  let viaLineOfHTTP2: [UInt8]
  /// `Strict-Transport-Security: ...`, or nothing.
  let strictTransportLine: [UInt8]
  /// The pseudonym in lower case: hosts are compared without regard to case.
  let loopMark: String

  public init(_ configuration: ProxyConfiguration) {
    self.configuration = configuration
    identityFields = IdentityFields(strip: configuration.strippedFields, keep: configuration.keptFields)
    passesCommonFields = configuration.strippedFields.isEmpty
    hostLine = Array("Host: \(configuration.upstreamAuthority)\r\n".utf8)
    viaLine = Array("Via: 1.1 \(configuration.pseudonym)\r\n".utf8)
    loopMark = configuration.pseudonym.lowercased()
    viaLineOfHTTP10 = Array("Via: 1.0 \(configuration.pseudonym)\r\n".utf8)
    viaLineOfHTTP2 = Array("Via: 2 \(configuration.pseudonym)\r\n".utf8)
    let strict = configuration.strictTransportSecurity
    strictTransportLine = strict.isEmpty ? [] : Array("Strict-Transport-Security: \(strict)\r\n".utf8)
  }
}
