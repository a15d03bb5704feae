import Demo
import FoundationEssentials
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import PolicyFile
import Testing

@Suite("The shipped policies in front of a legacy server")
struct ShippedPolicyFlowTests {
  private static let folder = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined() + "/policies"

  static var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder)
        .filter { $0.hasSuffix(".yaml") && !$0.hasSuffix(".test.yaml") }.sorted()
    }
  }

  /// The credentials of a client at the token endpoint.
  private enum Proof {
    case none
    case basic(Secret)
    case post(Secret)
  }

  private struct Shipped {
    let policy: Policy
    let unsupported: String
  }

  /// Reads the file as `serve` does, with a value for each environment variable that it names, and with a key ring.
  private static func load(_ name: String) throws -> Shipped {
    let keys = "/run/secrets/proofgate-keys"
    let copy = FileManager.default.temporaryDirectory.path + "/proofgate-" + UUID().uuidString
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)), as: UTF8.self)
    try Data("k1\n".utf8).write(to: URL(fileURLWithPath: copy + ".keys"))
    try Data(text.replacing(keys, with: copy + ".keys").utf8).write(to: URL(fileURLWithPath: copy + ".yaml"))
    defer {
      for file in [".keys", ".yaml"] { try? FileManager.default.removeItem(atPath: copy + file) }
    }
    var environment: [String: String] = [:]
    for piece in text.split(separator: "{ env: ").dropFirst() {
      let variable = String(piece.prefix { $0 != " " && $0 != "}" })
      environment[variable] = "a secret of \(variable): + %"
    }
    let outcome = PolicyFile.load(path: copy + ".yaml", environment: environment)
    return Shipped(
      policy: try #require(outcome.policy, "\(outcome.diagnostics)"),
      unsupported: outcome.unsupportedSettings.map(\.description).joined(separator: "\n"))
  }

  @Test("There are three shipped policies")
  func found() throws {
    #expect(Set(try Self.names).isSuperset(of: ["desktop-and-cli.yaml", "mixed.yaml", "mobile-app.yaml"]))
  }

  @Test("Each client of a shipped policy completes a flow of each of its grants", arguments: try names)
  func flows(name: String) async throws {
    let shipped = try Self.load(name)
    for client in shipped.policy.clients.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
      try await GatewayFixture.run(shipped.policy) { gateway in
        try await completeFlows(of: client, gateway, unsupported: shipped.unsupported)
      }
    }
  }

  private func completeFlows(of client: Client, _ gateway: GatewayFixture, unsupported: String) async throws {
    // The legacy server's secret for a client whose secret the gateway does not have.
    let own = Secret(client.secret?.reveal() ?? "\(client.upstream.clientID.rawValue)secret")
    let proofs: [Proof] = client.kind == .public ? [.none] : [.basic(own), .post(own)]
    for grant in client.grants {
      for proof in proofs {
        switch grant {
        case .authorizationCode:
          for redirectURI in client.redirectURIs {
            try await redeem(client, redirectURI.text, proof, upstreamUsesPKCE: true, gateway)
            if client.pkce != .required {
              try await redeem(client, redirectURI.text, proof, upstreamUsesPKCE: false, gateway)
            }
          }
        // Tested as part of the code's flow.
        case .refreshToken: #expect(client.grants.contains(.authorizationCode) || client.grants.contains(.deviceCode))
        case .clientCredentials:
          let response = try await ask(["grant_type": "client_credentials", "scope": "mail"], client, proof, gateway)
          try await expectTokens(response, client, gateway)
        case .deviceCode, .password:
          #expect(unsupported.contains("device_code"), "nothing here runs \(grant) of \(client.id.rawValue)")
        }
      }
    }
  }

  /// Signs in, redeems the code, and uses the refresh token of each response once.
  private func redeem(
    _ client: Client, _ redirectURI: String, _ proof: Proof, upstreamUsesPKCE: Bool, _ gateway: GatewayFixture
  ) async throws {
    let endpoints = gateway.policy.upstream.endpoints
    let app = NativeApp(
      clientID: client.id.rawValue, redirectURI: redirectURI, scope: "mail",
      server: NativeApp.Server(
        authorizationEndpoint: gateway.front.at(try #require(endpoints.authorization.last)),
        tokenEndpoint: gateway.front.at(try #require(endpoints.token.first)), issuer: gateway.policy.gateway.issuer))
    let attempt = app.start { form in
      if !upstreamUsesPKCE {
        form.remove("code_challenge")
        form.remove("code_challenge_method")
      }
    }
    var browser = gateway.browser(for: redirectURI)
    guard case .app(let delivery) = try await DemoUser().signIn(in: &browser, from: attempt.url) else {
      Issue.record("\(client.id.rawValue) got no answer at \(redirectURI)")
      return
    }
    let code = try app.code(in: delivery.parameters, for: attempt)
    var form: Form = ["grant_type": "authorization_code", "code": code.reveal(), "redirect_uri": redirectURI]
    if upstreamUsesPKCE { form.append("code_verifier", attempt.verifier.reveal()) }
    var tokens = try await expectTokens(try await ask(form, client, proof, gateway), client, gateway)
    guard client.grants.contains(.refreshToken) else { return }
    for _ in 0..<2 {
      let token = try #require(tokens.refreshToken)
      let refresh: Form = ["grant_type": "refresh_token", "refresh_token": token.reveal()]
      tokens = try await expectTokens(try await ask(refresh, client, proof, gateway), client, gateway)
    }
  }

  private func ask(
    _ form: Form, _ client: Client, _ proof: Proof, _ gateway: GatewayFixture
  ) async throws -> Response {
    var form = form
    var headers = Headers()
    switch proof {
    case .basic(let secret):
      headers.append("Authorization", BasicCredentials(user: client.id.rawValue, password: secret).header.reveal())
    case .post(let secret):
      form.append("client_id", client.id.rawValue)
      form.append("client_secret", secret.reveal())
    case .none: form.append("client_id", client.id.rawValue)
    }
    return try await gateway.post(try #require(gateway.policy.upstream.endpoints.token.first), form, headers)
  }

  /// Returns the tokens of a response, after the upstream has accepted the access token as one of its client.
  @discardableResult
  private func expectTokens(
    _ response: Response, _ client: Client, _ gateway: GatewayFixture
  ) async throws -> NativeApp.Tokens {
    let tokens = try #require(NativeApp.tokens(in: response), "\(client.id.rawValue): \(response.text)")
    let resource = try await ClientLoop.send(
      gateway.upstream.address,
      Request(
        method: "GET", target: "/api/me", headers: ["Authorization": "Bearer \(tokens.accessToken.reveal())"]))
    #expect(resource.status == 200)
    #expect(resource.text.contains("\"client_id\":\"\(client.upstream.clientID.rawValue)\""))
    return tokens
  }
}
