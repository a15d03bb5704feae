import GatewayTestSupport
import OAuth
import PathReading
import Policy
import Sealing
import Telemetry
import Testing
import Time

@testable import Gateway

@Suite("The endpoint table")
struct EndpointTableTests {
  @Test("Each path that a row takes from the policy is read as that row's endpoint")
  func paths() throws {
    let uri = try #require(ResourceURI(parsing: "https://gw.example/api"))
    let policy = try FixturePolicy.with {
      $0.upstream.endpoints = EndpointPaths(
        authorization: ["/authorize", "/v2/authorize"], token: ["/token"], revocation: ["/revoke"],
        introspection: ["/introspect"], pushedAuthorization: ["/par"], closed: ["/closed"])
      var resource = ResourceSettings(uri: uri)
      resource.introspection = ResourceServer(id: "api", secret: Secret("secret"))
      $0.resources = [resource]
      $0.registration = RegistrationSettings()
    }
    let snapshot = GatewaySnapshot(policy: policy, keyRing: KeyRing.ephemeral(now: 1_700_000_000))
    for endpoint in Endpoint.allCases {
      let paths = endpoint.row.paths(policy)
      #expect(endpoint == .otherOwnPath || endpoint == .pushedAuthorization || !paths.isEmpty, "\(endpoint)")
      for path in paths { #expect(snapshot.matcher.read(path: path) == .exact(endpoint), "\(path)") }
    }
  }

  @Test("Each endpoint that the gateway answers has its own label in the log and the metrics")
  func labels() {
    var labels: Set<DecisionEndpoint> = []
    for endpoint in Endpoint.allCases {
      switch endpoint.row.handling {
      case .answer where endpoint == .otherOwnPath: #expect(endpoint.row.label == .otherPath)
      // `start` begins an authorization request again.
      case .answer where endpoint == .start: #expect(endpoint.row.label == .authorization)
      // The gateway's own introspection endpoint has the label of the server's.
      case .answer where endpoint == .resourceIntrospection: #expect(endpoint.row.label == .introspection)
      // The metadata of resources have the label of the gateway's own.
      case .answer where endpoint == .protectedResource: #expect(endpoint.row.label == .metadata)
      // The QR code has the label of the page that it names.
      case .answer where endpoint == .deviceQRCode: #expect(endpoint.row.label == .deviceVerification)
      case .answer, .answerIf, .answerInstead: #expect(labels.insert(endpoint.row.label).inserted, "\(endpoint)")
      case .refuse: #expect(endpoint.row.label == .otherPath)
      }
    }
  }
}
