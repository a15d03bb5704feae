import Demo
import HTTP
import LegacyServer
import OAuth
import Policy
import Synchronization
import Time

@testable import Probe

/// A probe of a legacy server in memory.
struct ProbeFixture {
  static let redirectURI = "https://gateway.test/callback"
  static let secret = "s3cr3t:+ %value"
  static let client = LegacyClient(id: "legacy-mail", secret: secret, name: "Mail", redirectURI: redirectURI)
  static let target = ProbeTarget(origin: Origin(scheme: .http, host: "legacy.test", port: 9000))

  let server: LegacyAuthorizationServer
  let transport: MemoryTransport

  init(
    authentication: LegacyConfiguration.Authentication = .any, paths: LegacyPaths = LegacyPaths(),
    _ adjust: (inout LegacyQuirks) -> Void = { _ in }
  ) {
    let server = LegacyAuthorizationServer(
      LegacyConfiguration(
        clients: [Self.client], authentication: authentication, quirks: .with(adjust), paths: paths))
    self.server = server
    transport = MemoryTransport { server.respond(to: $0, now: 1_700_000_000) }
  }

  /// Returns the options with the client of the server.
  static func options(_ adjust: (inout ProbeOptions) -> Void = { _ in }) -> ProbeOptions {
    var options = ProbeOptions(target)
    options.clientID = client.id
    options.clientSecret = client.secret
    options.redirectURI = redirectURI
    adjust(&options)
    return options
  }

  func probe(_ options: ProbeOptions = options(), maximumRequests: Int = 200) async -> Probe {
    let probe = Probe(options, ProbeSession(transport, maximumRequests: maximumRequests))
    await probe.run()
    return probe
  }
}

/// A transport to a function, which records the requests.
final class MemoryTransport: ProbeTransport {
  private let respond: (Request) -> Response
  private(set) var requests: [ProbeRequest] = []

  init(_ respond: @escaping (Request) -> Response) {
    self.respond = respond
  }

  func send(_ request: ProbeRequest) async throws(ProbeFailure) -> ProbeAnswer {
    requests.append(request)
    var headers: Headers = ["Host": request.host ?? "legacy.test:9000"]
    if request.method == .post { headers.append("Content-Type", "application/x-www-form-urlencoded") }
    if let authorization = request.authorization { headers.append("Authorization", authorization.reveal()) }
    let response = respond(
      Request(method: request.method.rawValue, target: request.target, headers: headers, body: request.body))
    return ProbeAnswer(status: response.status, headers: response.headers, body: response.body)
  }
}

/// A user who signs in at the legacy server and gives the callback URL to the probe.
final class SigningUser: SignInPrompt {
  private let server: LegacyAuthorizationServer
  /// The number of sign-ins; the user answers later requests with an empty line.
  private var remaining: Int
  /// Changes the URL that the user copies.
  var edit: (String) -> String = { $0 }
  private(set) var urls: [String] = []
  private(set) var codes: [String] = []

  init(_ fixture: ProbeFixture, times: Int = 2) {
    server = fixture.server
    remaining = times
  }

  func callback(for url: String, purpose: String) async -> Secret? {
    urls.append(url)
    guard remaining > 0, let address = WebAddress(url) else { return nil }
    remaining -= 1
    let server = server
    var browser = DemoBrowser(appRedirectURI: ProbeFixture.redirectURI) { _, request in
      server.respond(to: request, now: 1_700_000_000)
    }
    guard let outcome = try? await DemoUser().signIn(in: &browser, from: address), case .app(let delivery) = outcome
    else { return nil }
    if let code = delivery.parameters["code"] { codes.append(code) }
    return Secret(edit(delivery.address))
  }
}
