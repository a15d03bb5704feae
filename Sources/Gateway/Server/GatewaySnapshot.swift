import Enforcement
public import Policy
import Proxy
import Reactor
public import Sealing

/// All that follows from a policy, computed once and read by every worker.
public final class GatewaySnapshot: Sendable {
  public let policy: Policy
  let keyRing: KeyRing
  let matcher: EndpointMatcher
  let pages: Pages
  let cookie: BrowserCookie
  let locations: LocationGuard
  /// As `Host` may say it: with and without the default port.
  let authority: HostName
  let authorityWithPort: HostName

  public init(policy: Policy, keyRing: KeyRing) {
    self.policy = policy
    self.keyRing = keyRing
    matcher = EndpointMatcher(
      endpoints: policy.upstream.endpoints, pass: policy.upstream.pass,
      takesPushedRequests: policy.takesPushedRequests)
    pages = Pages(branding: policy.gateway.branding)
    cookie = BrowserCookie(policy)
    locations = LocationGuard(policy)
    let origin = policy.gateway.origin
    let name = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
    authority = HostName(origin.authority)
    authorityWithPort = HostName("\(name):\(origin.port)")
  }

  /// How the proxy under the gateway behaves.
  var proxySettings: ProxySettings {
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
    let trusted = gateway.trustedProxies
    if !trusted.isEmpty {
      settings.trusts = { peer in
        let address = peer.mappedBytes
        return trusted.contains { $0.contains(address) }
      }
    }
    return ProxySettings(settings)
  }

  /// The same for one of `workers` workers, each of which has its share of the upstream connections.
  func proxySettings(workers: Int) -> ProxySettings {
    proxySettings.sharing(upstreamConnections: max(1, policy.upstream.maxConnections / max(1, workers)))
  }
}
