import Enforcement
import HTTP1
import HTTP2
public import Policy
import Proxy
import Reactor
public import Sealing
import TLS

/// The values that follow from a policy, computed once and read by every worker.
public final class GatewaySnapshot: Sendable {
  /// The policy from which the snapshot was made.
  public let policy: Policy
  let keyRing: KeyRing
  let matcher: EndpointMatcher
  let pages: Pages
  let cookie: BrowserCookie
  let locations: LocationGuard
  let identifiers: GuardedIdentifiers
  /// The identifiers if every observed client were enforced, for findings.
  let identifiersIfEnforced: GuardedIdentifiers
  /// The longest body of a request to an OAuth endpoint, in bytes.
  let bodyLimit: Int
  /// The two accepted values of `Host`: without and with the default port.
  let authority: HostName
  let authorityWithPort: HostName

  /// Computes the snapshot, which may take a while for a large policy.
  public init(policy: Policy, keyRing: KeyRing) {
    self.policy = policy
    self.keyRing = keyRing
    matcher = EndpointMatcher(
      paths: { $0.row.paths(policy) }, pass: policy.upstream.pass, notEndpoints: policy.upstream.notEndpoints)
    pages = Pages(branding: policy.gateway.branding)
    cookie = BrowserCookie(policy)
    locations = LocationGuard(policy)
    identifiers = GuardedIdentifiers(policy)
    identifiersIfEnforced = policy.isObserving ? GuardedIdentifiers(policy, asIfEnforced: true) : identifiers
    bodyLimit = policy.gateway.limits.body
    let origin = policy.gateway.origin
    let name = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
    authority = HostName(origin.authority)
    authorityWithPort = HostName("\(name):\(origin.port)")
  }

  /// Returns the proxy's settings for each of `workers` workers. Limits that apply to all workers together are divided
  /// among them.
  ///
  /// - Parameters:
  ///   - listeners: The TLS of each listener; `nil` for a plaintext one.
  ///   - bufferMemory: The value of `max_buffer_memory` if the policy does not set it, in bytes.
  func proxySettings(
    workers: Int, listeners: [TLSServer?], upstream client: TLSClient?, bufferMemory: Int
  ) -> ProxySettings {
    let gateway = policy.gateway
    let upstream = policy.upstream
    var settings = ProxyConfiguration()
    settings.pseudonym = gateway.origin.authority
    settings.upstreamAuthority = upstream.origin.authority
    settings.upstreamOrigin = upstream.origin.description
    settings.origin = gateway.origin.description
    settings.authority = gateway.origin.authority
    settings.privateCookie = cookie.name
    settings.connectTimeout = upstream.connectTimeout
    settings.responseTimeout = upstream.responseTimeout
    settings.upgrades = upstream.upgrades
    settings.strippedFields = upstream.strippedHeaders
    settings.keptFields = upstream.keptHeaders
    settings.cancelsHalfClosed = gateway.halfClose == .cancel
    let limits = gateway.limits
    settings.headTimeout = limits.headerTimeout
    settings.bodyTimeout = limits.bodyTimeout
    settings.idleTimeout = limits.idleTimeout
    settings.limits.head = HeadLimits(
      bytes: limits.headerBytes, fields: limits.headerFields, target: limits.targetLength)
    settings.limits.connections = limits.connections
    settings.limits.connectionsPerAddress = limits.connectionsPerAddress
    settings.limits.requestsPerConnection = limits.requestsPerConnection
    settings.limits.requestTimeout = limits.requestTimeout
    settings.limits.minimumRate = limits.minimumRate
    if gateway.http2 {
      var http2 = HTTP2Limits()
      http2.concurrentStreams = limits.concurrentStreams
      http2.resets = limits.streamResets
      http2.controlFrames = limits.controlFrames
      settings.http2 = http2
    }
    settings.upstreamConnections = max(1, upstream.maxConnections / workers)
    settings.limits.reservedUpstreamConnections = min(
      upstream.reservedConnections / workers, settings.upstreamConnections - 1)
    settings.limits.bufferMemory = (limits.maxBufferMemory ?? bufferMemory) / workers
    // Responses stay unchanged if the policy enforces no client (`I-observe`).
    if gateway.origin.scheme == .https, policy.isEnforcing {
      settings.securesCookies = true
      // A browser keeps the field for all ports of the host, and other programs on this machine use plain http.
      if let strict = gateway.strictTransport, !gateway.origin.isLoopback {
        settings.strictTransportSecurity = strict.fieldValue
      }
    }
    let trusted = gateway.trustedProxies
    if !trusted.isEmpty {
      settings.trusts = { peer in
        let address = peer.mappedBytes
        return trusted.contains { $0.contains(address) }
      }
    }
    settings.listeners = listeners
    settings.upstreamTLS = client
    return ProxySettings(settings)
  }
}
