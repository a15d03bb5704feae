internal import ClientDocuments
import Enforcement
import HTTP1
import HTTP2
import PathReading
public import Policy
import Proxy
import Reactor
public import Sealing
import TLS
import Time

/// The values that are derived from a policy. They are computed once, and every worker reads them.
public final class GatewaySnapshot: Sendable {
  /// The policy from which the values were derived.
  public let policy: Policy
  let keyRing: KeyRing
  let matcher: EndpointMatcher
  /// The prefixes of `upstream.completion_paths`.
  private let completionPaths: PathPrefixes
  let pages: Pages
  let cookie: BrowserCookie
  let locations: LocationGuard
  /// The gateway's metadata document.
  let metadata: MetadataDocuments
  let crossOrigin: CrossOriginAccess
  /// The metadata documents of the resources on the gateway's origin.
  let protectedResources: ProtectedResources
  /// The client ids whose secrets the gateway protects at the endpoints that clients call directly (`I-credentials`).
  let identifiers: GuardedIdentifiers
  /// The client ids whose secrets the gateway would protect if every observed client were enforced. A request with an
  /// id that is in this property but not in `identifiers` gets a finding and is not refused.
  let identifiersIfEnforced: GuardedIdentifiers
  /// Fetches client ID metadata documents; `nil` if the policy permits none.
  let documents: DocumentFetcher?
  /// The maximum length of the body of a request to an OAuth endpoint, in bytes.
  let bodyLimit: Int
  /// An accepted value of `Host`: the host, with the port unless it is the default of the scheme.
  let authority: HostName
  /// The other accepted value of `Host`: the host, always with the port.
  let authorityWithPort: HostName

  /// Computes the values. This may take about a second for a large policy.
  public init(policy: Policy, keyRing: KeyRing) {
    self.policy = policy
    self.keyRing = keyRing
    matcher = EndpointMatcher(policy)
    completionPaths = PathPrefixes(policy.upstream.completionPaths)
    pages = Pages(branding: policy.gateway.branding, rulesURL: policy.gateway.rulesURL)
    cookie = BrowserCookie(policy)
    locations = LocationGuard(policy)
    metadata = MetadataDocuments(policy, matcher)
    crossOrigin = CrossOriginAccess(policy)
    protectedResources = ProtectedResources(policy)
    identifiers = GuardedIdentifiers(policy)
    identifiersIfEnforced = policy.isObserving ? GuardedIdentifiers(policy, asIfEnforced: true) : identifiers
    documents = DocumentFetcher(policy)
    bodyLimit = policy.gateway.limits.body
    let origin = policy.gateway.origin
    // A host with a colon is an IPv6 address, which is in brackets in front of a port.
    let hostBeforePort = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
    authority = HostName(origin.authority)
    authorityWithPort = HostName("\(hostBeforePort):\(origin.port)")
  }

  /// True if the server's answer to a request for this path may complete a sign-in: at an authorization endpoint, under
  /// `upstream.completion_paths`, and at any path if the browser brings the codes to the callback.
  func mayComplete(at path: [UInt8]) -> Bool {
    if policy.upstream.callback == .atCallback { return true }
    if case .prefix = completionPaths.match(path.span) { return true }
    return policy.upstream.endpoints.authorization.contains { $0.utf8.elementsEqual(path) }
  }

  /// The timers of connections from clients.
  var clientTimers: TCPTimers {
    TCPTimers(keepalive: policy.gateway.tcpKeepalive ?? 0, userTimeout: policy.gateway.tcpUserTimeout ?? 0)
  }

  /// Returns the settings of the proxy for one of `workers` workers. The limits on upstream connections, on requests
  /// per address and on buffer memory apply to all workers together, so each worker gets its share.
  ///
  /// - Parameters:
  ///   - tlsServers: The TLS server of each listener; `nil` for a plaintext listener.
  ///   - client: The TLS settings for the upstream; `nil` for plaintext.
  ///   - bufferMemory: The default of `max_buffer_memory`, in bytes.
  func proxySettings(
    workers: Int, tlsServers: [TLSServer?], upstream client: TLSClient?, bufferMemory: Int
  ) -> CompiledProxyConfiguration {
    let gateway = policy.gateway
    let upstream = policy.upstream
    var settings = ProxyConfiguration()
    settings.pseudonym = gateway.origin.authority
    settings.upstreamAuthority = upstream.authority(for: gateway.origin)
    let origins = ServerOrigins(policy)
    settings.upstreamOrigins = origins.hidden
    settings.insecureOrigins = origins.insecure
    settings.cookieHost = gateway.origin.host
    settings.origin = gateway.origin.description
    settings.authority = gateway.origin.authority
    settings.handlerCookie = cookie.name
    settings.cookieParameter = { OAuthNames.parameter(inCookie: $0) }
    settings.dropsParameterCookies = policy.isEnforcing
    settings.connectTimeout = upstream.connectTimeout
    settings.responseTimeout = upstream.responseTimeout
    settings.upgrades = upstream.upgrades
    settings.earlyHints = upstream.earlyHints
    settings.forwardsTrailers = upstream.forwardsTrailers
    settings.upstreamTimers = TCPTimers(
      keepalive: upstream.tcpKeepalive ?? 0, userTimeout: upstream.tcpUserTimeout ?? 0)
    settings.strippedFields = upstream.strippedHeaders
    settings.keptFields = upstream.keptHeaders
    settings.addsRequestIDs = gateway.requestIDs == .all
    settings.cancelsHalfClosed = gateway.halfClose == .cancel
    let limits = gateway.limits
    settings.headerTimeout = limits.headerTimeout
    settings.bodyTimeout = limits.bodyTimeout
    settings.idleTimeout = limits.idleTimeout
    settings.tunnelTimeout = limits.tunnelTimeout
    settings.limits.head = HeadLimits(
      bytes: limits.headerBytes, fields: limits.headerFields, target: limits.targetLength)
    // `Gateway.route` decides on them.
    settings.limits.head.acceptsUnencodedTargets = true
    settings.limits.responseHead = HeadLimits(bytes: limits.responseHeaderBytes, fields: limits.responseHeaderFields)
    settings.limits.connections = limits.connections
    settings.limits.connectionsPerAddress = limits.connectionsPerAddress
    settings.limits.requestsPerAddress = limits.requestsPerAddress.map { max(1, $0 / workers) }
    settings.limits.requestsPerConnection = limits.requestsPerConnection
    settings.limits.requestTimeout = limits.requestTimeout
    settings.limits.requestBuffer = limits.requestBuffer
    settings.limits.requestCopy = limits.requestCopy
    settings.limits.minimumRate = limits.minimumRate
    settings.routes = passingRoutes
    if gateway.http2 {
      var http2 = HTTP2Limits()
      http2.concurrentStreams = limits.concurrentStreams
      http2.streamResets = limits.streamResets
      http2.controlFrames = limits.controlFrames
      settings.http2 = http2
    }
    settings.upstreamConnections = upstream.maxConnections
    settings.upstreamConnectionAge = upstream.connectionAge
    settings.requestsPerUpstreamConnection = upstream.connectionRequests
    settings.failureStatuses = Set(upstream.failureStatuses)
    settings.failureLimit = upstream.failureCount
    settings.healthCheck = upstream.healthCheck.map { check in
      var made = HealthCheck(path: check.path, interval: check.interval, timeout: check.timeout)
      made.statuses = Set(check.statuses)
      made.failures = check.failures
      made.successes = check.successes
      return made
    }
    settings.affinity =
      switch upstream.affinity {
      case .cookie(let name)?: .cookie(name)
      case .clientAddress?: .clientAddress
      case AddressAffinity.none?: .leastOutstanding
      case nil: .first
      }
    settings.limits.reservedUpstreamConnections = min(upstream.reservedConnections, upstream.maxConnections - 1)
    settings.limits.bufferMemory = (limits.maxBufferMemory ?? bufferMemory) / workers
    // These settings change responses, which must stay the same if the policy enforces no client (`I-observe`).
    settings.dropsAlternativeServices = policy.isEnforcing
    settings.upgradesInsecureOrigins = policy.isEnforcing
    settings.dropsForeignCookieDomains = policy.isEnforcing
    if gateway.origin.scheme == .https, policy.isEnforcing {
      settings.securesCookies = true
      // A browser applies Strict-Transport-Security to all ports of a host. Other programs on this machine may use
      // plain http, so the gateway does not send the field if its own host is loopback.
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
    settings.listenerNames = gateway.listeners.map(\.address.description)
    settings.listenerTLS = tlsServers
    settings.upstreamTLS = client
    return CompiledProxyConfiguration(settings)
  }
}
