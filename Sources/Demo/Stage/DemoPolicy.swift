import OAuth
import Policy

/// The policy of the demo. An operator would write it as a file (see `policies/`).
public enum DemoPolicy {
  /// The version of the policy, for metrics.
  public static let version = "demo"
  /// The gateway's client id at the legacy server.
  static let legacyClientID = "legacy-web"
  static let legacyClientSecret = "the-gateway-keeps-this"
  static let appID = "demo-app"
  /// The client id that a thief presents with a code of `appID` (`DemoStory.Participants.otherApp`).
  static let otherAppID = "other-app"
  static let otherAppRedirectURI = "com.example.other:/callback"

  /// Returns the policy for a gateway and an upstream on these ports of 127.0.0.1.
  static func make(gatewayPort: Int, upstreamPort: Int) throws(RedirectURIError) -> Policy {
    let origin = Origin(scheme: .http, host: "127.0.0.1", port: gatewayPort)
    let gateway = GatewaySettings(
      origin: origin, issuer: origin.description,
      listeners: [ListenerSettings(address: SocketAddress(host: "127.0.0.1", port: gatewayPort))], admin: nil)
    let upstream = UpstreamSettings(
      origin: Origin(scheme: .http, host: "127.0.0.1", port: upstreamPort),
      endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"], revocation: ["/revoke"]))
    let clients = [
      try client(appID, "Demo App", ["http://127.0.0.1/callback", "com.example.demo:/callback"]),
      try client(otherAppID, "Other App", [otherAppRedirectURI]),
    ]
    return Policy(
      gateway: gateway, upstream: upstream, unknownClients: .reject, mode: .enforce,
      clients: Dictionary(uniqueKeysWithValues: clients.map { ($0.id, $0) }), version: version)
  }

  private static func client(_ id: String, _ name: String, _ uris: [String]) throws(RedirectURIError) -> Client {
    var redirectURIs: [RedirectURI] = []
    for uri in uris { redirectURIs.append(try RedirectURI(parsing: uri)) }
    return Client(
      ClientSettings(
        id: ClientID(id), name: name, kind: .public, application: .native, redirectURIs: redirectURIs,
        consent: .gateway,
        upstream: UpstreamClient(
          clientID: ClientID(legacyClientID), clientSecret: Secret(legacyClientSecret), authentication: .basic,
          redirectURI: .callback)))
  }
}
