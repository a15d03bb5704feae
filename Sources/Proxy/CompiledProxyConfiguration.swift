import HTTP1
public import HTTP2
public import Reactor
public import TLS
public import Time

/// The configuration of a proxy.
public struct ProxyConfiguration: Sendable {
  /// The maximum time from the first byte of a head to its end, and from the start of a connection to its first byte.
  public var headerTimeout: Milliseconds = 10_000
  /// The maximum time without progress of a body, in either direction.
  public var bodyTimeout: Milliseconds = 60_000
  /// The maximum time without traffic in either direction of a connection that has switched to another protocol.
  public var tunnelTimeout: Milliseconds = 600_000
  /// The maximum time that a client connection waits for the next request.
  public var idleTimeout: Milliseconds = 75_000
  /// The time for which the body of a refused request is still read. If unread bytes were left, the kernel would reset
  /// the connection, and the client could lose the response.
  public var lingerTimeout: Milliseconds = 2_000
  /// The number of bytes of a refused request's body that are still read.
  public var lingerBytes = 256 * 1024
  /// The maximum time to establish an upstream connection, for all addresses of the upstream together.
  public var connectTimeout: Milliseconds = 5_000
  /// The maximum time from the request's last byte to the response's head.
  public var responseTimeout: Milliseconds = 60_000
  /// True if a safe request that has no response yet is cancelled when the client ends the sending side of its
  /// connection.
  public var cancelsHalfClosed = true
  /// The timers of TCP connections to the upstream.
  public var upstreamTimers = TCPTimers()
  /// The time for which an unused upstream connection is kept.
  public var upstreamIdleTimeout: Milliseconds = 30_000
  /// The maximum idle time of an upstream connection that a request may use if the request must not be sent twice.
  public var maximumIdleTimeIfNotRepeatable: Milliseconds = 1_000
  /// The maximum age of an upstream connection. Afterwards it begins no request.
  public var upstreamConnectionAge: Milliseconds = 3_600_000
  /// The maximum number of requests on an upstream connection.
  public var requestsPerUpstreamConnection = 1_000
  /// The rule by which one of several upstream addresses is chosen.
  public var affinity = UpstreamAffinity.first
  /// The statuses of responses that count as failures of the address.
  public var failureStatuses: Set<Int> = [502, 503, 504]
  /// The number of failures in succession that take an address out of service.
  public var failureLimit = 5
  /// The active check of the addresses; `nil` for none.
  public var healthCheck: HealthCheck?
  /// The maximum number of upstream connections of all workers that share their places (`UpstreamPermits`).
  public var upstreamConnections = 512
  /// The maximum time that a request waits for an upstream connection if all are in use.
  public var queueTimeout: Milliseconds = 5_000
  /// The maximum size of a body, in bytes, if the gateway reads an upstream response as a whole.
  public var collectedBodyLimit = 1024 * 1024
  /// The limits on clients and requests.
  public var limits = ProxyLimits()
  /// The name in `Via`, used to detect loops.
  public var pseudonym = "proofgate"
  /// The `Host` of requests to the upstream.
  public var upstreamAuthority = ""
  /// The upstream's origins as in a `Location`, e.g. `http://127.0.0.1:9000`, which become `origin`.
  public var upstreamOrigins: [String] = []
  /// The host and port of the gateway, as clients use them.
  public var authority = ""
  /// The gateway's origin, which replaces the upstream's in a `Location`.
  public var origin = ""
  /// True to drop the upstream's `Alt-Svc`, by which browsers would go around the gateway.
  public var dropsAlternativeServices = false
  /// Spellings of the gateway's origin with http. The handler is informed of them in a `Location`.
  public var insecureOrigins: [String] = []
  /// True if `insecureOrigins` become `origin` in a `Location`.
  public var upgradesInsecureOrigins = false
  /// The host of the gateway without a port, in lower case. The handler is informed of a `Set-Cookie` whose `Domain` does
  /// not contain it; not if it is empty.
  public var cookieHost = ""
  /// True to drop a `Domain` that does not contain `cookieHost`: browsers would reject the cookie.
  public var dropsForeignCookieDomains = false
  /// The name of the handler's own cookie, which is never sent upstream and which the upstream cannot set.
  public var handlerCookie = ""
  /// Returns the parameter that some server may read in a cookie with this name; `nil` for any other cookie.
  public var cookieParameter: @Sendable (Span<UInt8>) -> String? = { _ in nil }
  /// True if such cookies are not sent upstream.
  public var dropsParameterCookies = false
  /// Returns true for a trusted proxy, whose forwarding fields are used.
  public var trusts: @Sendable (Address) -> Bool = { _ in false }
  /// The TLS of each listener, by its index. A listener without an element, or with `nil`, is plaintext.
  public var listenerTLS: [TLSServer?] = []
  /// The names of the listeners in the access log, by their indices.
  public var listenerNames: [String] = []
  /// The TLS of upstream connections; `nil` for plaintext.
  public var upstreamTLS: TLSClient?
  /// The value of `Strict-Transport-Security` in responses over TLS (RFC 6797, section 7.1); empty if the gateway adds
  /// no such field.
  public var strictTransportSecurity = ""
  /// True if `Secure` is added to the upstream's cookies, because browsers reach the gateway over https.
  public var securesCookies = false
  /// Globs of names of request fields that only a trusted proxy may send, in addition to the built-in ones.
  public var strippedFields: [String] = []
  /// Globs of names of request fields that every client may send although a built-in glob matches or the name contains
  /// an `_`.
  public var keptFields: [String] = []
  /// True if the proxy sets `X-Request-ID` in every request to the upstream and in every response.
  public var addsRequestIDs = false
  /// The protocols, in lower case, that an `Upgrade` field may request.
  public var upgrades: Set<String> = []
  /// True if early hints (103) of the upstream go to clients.
  public var earlyHints = false
  /// True if trailers of requests go to the upstream.
  public var forwardsTrailers = false
  /// The limits of HTTP/2 connections; `nil` if only HTTP/1.1 is enabled.
  public var http2: HTTP2Limits?

  /// The settings of passing requests by path; `nil` if all paths have the same.
  public var routes: PassingRoutes?

  /// The default configuration.
  public init() {}
}

/// A `ProxyConfiguration` with the lines and globs that are derived from it once, because each request uses them. A
/// change of the settings replaces the whole object between two requests.
///
/// A class, because it is used several times per request, and copying a struct would retain each field.
public final class CompiledProxyConfiguration: Sendable {
  let configuration: ProxyConfiguration
  /// The request fields that only a trusted proxy may send.
  let identityFields: IdentityFields
  /// True if `strippedFields` is empty: then a common field (`KnownField.common`) is forwarded without a check.
  let passesCommonFields: Bool
  /// The `Host: ...` line of requests to the upstream, ready to be copied.
  let hostLine: [UInt8]
  /// The `Via: ...` line of a request that arrived over HTTP/1.1, and of a request that the gateway itself makes. The
  /// next two lines are for the other versions of HTTP.
  let viaLineOfHTTP11: [UInt8]
  let viaLineOfHTTP10: [UInt8]
  let viaLineOfHTTP2: [UInt8]
  /// The `Strict-Transport-Security: ...` line, or nothing.
  let strictTransportLine: [UInt8]
  /// The time limits of each exchange.
  let exchangeTimeouts: ExchangeDeadlines.Settings
  /// The name in `Via` in lower case, because host names are case-insensitive.
  let lowercasePseudonym: String
  /// The routes; `nil` without any.
  let routes: CompiledRoutes?

  /// Prepares the lines and globs that each request uses.
  public init(_ configuration: ProxyConfiguration) {
    self.configuration = configuration
    routes = configuration.routes.map { CompiledRoutes($0, configuration) }
    exchangeTimeouts = ExchangeDeadlines.Settings(
      progress: ProgressMeter.Limits(
        timeout: configuration.bodyTimeout, rate: configuration.limits.minimumRate,
        window: configuration.limits.rateWindow),
      tunnelTimeout: configuration.tunnelTimeout, responseTimeout: configuration.responseTimeout)
    identityFields = IdentityFields(strip: configuration.strippedFields, keep: configuration.keptFields)
    passesCommonFields = configuration.strippedFields.isEmpty
    hostLine = Array("Host: \(configuration.upstreamAuthority)\r\n".utf8)
    viaLineOfHTTP11 = Array("Via: 1.1 \(configuration.pseudonym)\r\n".utf8)
    lowercasePseudonym = configuration.pseudonym.lowercased()
    viaLineOfHTTP10 = Array("Via: 1.0 \(configuration.pseudonym)\r\n".utf8)
    viaLineOfHTTP2 = Array("Via: 2 \(configuration.pseudonym)\r\n".utf8)
    let strict = configuration.strictTransportSecurity
    strictTransportLine = strict.isEmpty ? [] : Array("Strict-Transport-Security: \(strict)\r\n".utf8)
  }
}
