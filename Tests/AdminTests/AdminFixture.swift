import Admin
import LegacyServer
import OAuth
import Policy
import Proxy
import Reactor
import Telemetry
import Testing
import Time

/// An admin listener on a port that the kernel chose, with an upstream that accepts connections.
struct AdminFixture {
  let upstream: LegacyService
  let status: ProcessStatus
  let server: AdminServer
  /// The addresses of the upstream, which all have the port of its origin.
  let servers: UpstreamServers

  init(
    hosts: [String] = ["127.0.0.1"],
    _ policy: (_ upstreamPort: Int) throws -> Policy = { try AdminFixture.policy(upstreamPort: $0) }
  ) async throws {
    upstream = try await LegacyService(LegacyAuthorizationServer(LegacyConfiguration(clients: [])))
    let metrics = MetricsRegistry(workers: 1, policyVersion: "v1")
    let policy = try policy(upstream.port)
    status = ProcessStatus(
      version: "0.0.1", libraries: ["zlib 1.2"], metrics: metrics, policy: policy, startTime: 0)
    servers = UpstreamServers(hosts.map { .host($0, port: policy.upstream.origin.port) })
    server = try await AdminServer(
      address: try #require(Address(literal: "127.0.0.1", port: 0)), status: status, upstream: servers)
  }

  var port: Int { server.address?.port ?? 0 }

  func stop() async {
    await server.stop()
    await upstream.stop()
  }

  static func policy(upstreamPort: Int, replicas: Int = 1, version: String = "v1") throws -> Policy {
    let origin = Origin(scheme: .https, host: "id.example.com")
    let client = ClientSettings(
      id: ClientID("app"), kind: .public, application: .native,
      redirectURIs: [try RedirectURI(parsing: "com.example.app:/cb")], mode: .observe, consent: .upstream,
      upstream: UpstreamClient(
        clientID: ClientID("legacy"), clientSecret: Secret("very-secret"), authentication: .basic,
        redirectURI: .callback))
    return Policy(
      gateway: GatewaySettings(
        origin: origin, issuer: origin.description, listeners: [], admin: nil, replicas: replicas),
      upstream: UpstreamSettings(
        origin: Origin(scheme: .http, host: "127.0.0.1", port: upstreamPort),
        endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/token"])),
      unknownClients: .reject, mode: .enforce, clients: [client.id: Client(client)], version: version)
  }
}
