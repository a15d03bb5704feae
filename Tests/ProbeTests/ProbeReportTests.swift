import FoundationEssentials
import Gateway
import HTTP
import JSON
import LegacyServer
import Policy
import PolicyFile
import Synchronization
import Testing
import Time

@testable import Probe

/// Encodes as the command does.
enum JSONEncoding {
  static func encode(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
    return try encoder.encode(value)
  }
}

@Suite("The report of a probe")
struct ProbeReportTests {
  private static func diagnostics(_ text: String) -> [Diagnostic] {
    PolicyFile.load(
      path: "-", PolicySources(environment: [:], standardInput: Array(text.utf8), readsSecrets: false)
    ).diagnostics
  }

  @Test("The policy has no errors, and the settings that were observed")
  func policy() async {
    let fixture = ProbeFixture(authentication: .post) { $0.stateLimit = 255 }
    let policy = UpstreamBlock(ProbeReport(await fixture.probe())).policy
    #expect(Self.diagnostics(policy).filter { $0.severity == .error }.isEmpty, "\(Self.diagnostics(policy))")
    #expect(policy.contains("    authorization: \"/authorize\"\n    token: \"/token\"\n    revocation: \"/revoke\"\n"))
    #expect(policy.contains("  authentication: post\n"))
    #expect(policy.contains("  state_limit: 255\n"))
    #expect(policy.contains("# The probe was redirected to \"/login\"."))
    // A guess that no sign-in has confirmed must not become a setting.
    #expect(policy.contains("  # completion_paths: [\"/login\"]\n"))
    let findings = ProbeReport(await fixture.probe()).findings
    #expect(findings.first { $0.id == "completion_paths" }?.value == "/login")
  }

  @Test("The policy for a server without endpoints has no errors")
  func emptyPolicy() async {
    let transport = MemoryTransport { _ in Response(status: 404) }
    let probe = Probe(ProbeOptions(ProbeFixture.target), ProbeSession(transport, maximumRequests: 100))
    await probe.run()
    let report = ProbeReport(probe)
    #expect(!report.isOAuthServer)
    #expect(Self.diagnostics(UpstreamBlock(report).policy).filter { $0.severity == .error }.isEmpty)
  }

  @Test(
    "A server that answers every path alike has no endpoints",
    arguments: [
      Response(status: 200, headers: ["Content-Type": "text/html"], body: Array("<html>Hello".utf8)),
      Response(status: 302, headers: ["Location": "/login"]), Response(status: 302, headers: ["Location": "/again"]),
      Response(
        status: 404, headers: ["Content-Type": "application/json"], body: Array(#"{"error":"no such resource"}"#.utf8)),
      Response(status: 400), Response(status: 500), Response(status: 200, body: Array(repeating: 0xff, count: 300_000)),
    ])
  func alike(_ response: Response) async {
    let probe = Probe(
      ProbeOptions(ProbeFixture.target), ProbeSession(MemoryTransport { _ in response }, maximumRequests: 100))
    await probe.run()
    #expect(probe.observations.authorization == nil)
    #expect(probe.observations.token == nil)
    #expect(!ProbeReport(probe).isOAuthServer)
    #expect(probe.session.sent < 60)
  }

  @Test("The number of requests is bounded, and the report says where the probe ended", arguments: [1, 5, 20, 40])
  func budget(_ maximum: Int) async {
    let fixture = ProbeFixture { $0.stateLimit = 255 }
    let probe = await fixture.probe(maximumRequests: maximum)
    #expect(fixture.transport.requests.count == maximum)
    #expect(probe.stop == .limit(maximum))
    let report = ProbeReport(probe)
    #expect(report.text.contains("The probe ended early: \(maximum) requests were sent"))
    #expect(Self.diagnostics(UpstreamBlock(report).policy).filter { $0.severity == .error }.isEmpty)
  }

  @Test("A complete probe needs at most the default number of requests")
  func requests() async {
    let fixture = ProbeFixture { $0.stateLimit = 255 }
    let probe = await fixture.probe(maximumRequests: 120)
    #expect(probe.stop == nil)
  }

  @Test("A server that limits requests ends the probe")
  func limited() async {
    let transport = MemoryTransport { _ in Response(status: 429) }
    let probe = Probe(ProbeOptions(ProbeFixture.target), ProbeSession(transport, maximumRequests: 100))
    await probe.run()
    #expect(probe.stop == .tooMany)
    #expect(transport.requests.count == 1)
  }

  @Test("A gateway is recognised, and not taken for a server")
  func gateway() async {
    let transport = MemoryTransport {
      Response(status: $0.target == "/.proofgate/rules/pkce-required" ? 200 : 404, body: Array("pkce-required".utf8))
    }
    let probe = Probe(ProbeOptions(ProbeFixture.target), ProbeSession(transport, maximumRequests: 100))
    await probe.run()
    #expect(probe.isGateway)
    #expect(transport.requests.count == 1)
  }

  @Test("The document names endpoints and the issuer, which is compared with that of the gateway")
  func metadata() async {
    let document = """
      {"issuer":"http://legacy.test:9000","authorization_endpoint":"http://legacy.test:9000/a/authorize",
      "token_endpoint":"http://legacy.test:9000/a/token","introspection_endpoint":"http://legacy.test:9000/a/check",
      "id_token_signing_alg_values_supported":["RS256"],"code_challenge_methods_supported":["S256"]}
      """
    let paths = LegacyPaths(authorization: ["/a/authorize"], token: ["/a/token"])
    let server = ProbeFixture(paths: paths).server
    let transport = MemoryTransport {
      $0.target == "/.well-known/openid-configuration"
        ? Response(status: 200, body: Array(document.utf8)) : server.respond(to: $0, now: 1_700_000_000)
    }
    let probe = Probe(ProbeFixture.options(), ProbeSession(transport, maximumRequests: 200))
    await probe.run()
    #expect(probe.observations.documents == ["/.well-known/openid-configuration"])
    #expect(probe.observations.authorization == .init(path: "/a/authorize", source: .document, isConfirmed: true))
    #expect(probe.observations.token == .init(path: "/a/token", source: .document, isConfirmed: true))
    #expect(probe.observations.introspection?.path == "/a/check")
    #expect(probe.observations.issuer == .idTokens("http://legacy.test:9000"))
    let same = ProbeReport(probe, gatewayIssuer: "http://legacy.test:9000").findings.first { $0.id == "issuer" }
    #expect(same?.isWarning == false)
    let other = ProbeReport(probe, gatewayIssuer: "https://id.example.com").findings.first { $0.id == "issuer" }
    #expect(other?.isWarning == true)
    #expect(other?.advice == probe.observations.issuer.conflict(with: "https://id.example.com"))
  }

  @Test("Texts of the server cannot write to the terminal or into the policy")
  func hostileTexts() async {
    let document = #"""
      {"issuer":"x\u001b[2J`","authorization_endpoint":"http://legacy.test:9000/a\"b",
      "token_endpoint":"http://legacy.test:9000/t#x","id_token_signing_alg_values_supported":[]}
      """#
    let transport = MemoryTransport {
      if $0.target.hasPrefix("/.well-known/openid") { return Response(status: 200, body: Array(document.utf8)) }
      return $0.method == "POST"
        ? Response(status: 400, body: Array(#"{"error":"\u001b[31mred\nline"}"#.utf8))
        : Response(status: 302, headers: ["Location": "/x\u{1b}[2J\"`?error=%1b"])
    }
    let probe = Probe(ProbeFixture.options(), ProbeSession(transport, maximumRequests: 200))
    await probe.run()
    let report = ProbeReport(probe, gatewayIssuer: "https://id.example.com")
    #expect(!report.text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    #expect(Self.diagnostics(UpstreamBlock(report).policy).filter { $0.severity == .error }.isEmpty)
  }

  @Test(
    "A server may answer each path with any two locations",
    arguments: ["", "/", "x", "?", "#", ":", "//", "\u{301}", "/\u{301}", "\u{301}/", "é", "/a/\u{301}", "http://"])
  func anyLocations(_ first: String) async {
    for second in ["", "x", "\u{301}", "\u{301}x", "../", "?", "//", "/\u{301}/"] {
      let sent = Mutex(0)
      let transport = MemoryTransport { _ in
        let location = sent.withLock { (count: inout Int) in
          count += 1
          return count % 2 == 0 ? second : first
        }
        return Response(status: 302, headers: ["Location": location])
      }
      let probe = Probe(ProbeFixture.options(), ProbeSession(transport, maximumRequests: 100))
      await probe.run()
      #expect(!ProbeReport(probe).text.isEmpty)
      #expect(transport.requests.allSatisfy { $0.target.hasPrefix("/") })
    }
  }

  @Test(
    "The way around the gateway is found by the server's answer at the name of the gateway", arguments: [true, false])
  func wayAround(_ isOpen: Bool) async {
    let fixture = ProbeFixture()
    let probe = await fixture.probe()
    let gateway = MemoryTransport { _ in Response(status: 200, body: Array("pkce-required".utf8)) }
    let around = isOpen ? fixture.transport : MemoryTransport { _ in Response(status: 404) }
    let url = ProbeTarget(origin: Origin(scheme: .http, host: "id.example.com", port: 9000))
    await probe.probeWayAround(.init(network: .loopback, gateway: gateway, around: (url, around)))
    #expect(probe.observations.gatewayAnswers == true)
    #expect(probe.observations.wayAround == (isOpen ? "http://id.example.com:9000" : nil))
    let finding = ProbeReport(probe).findings.first { $0.id == "way_around" }
    #expect(finding?.value == (isOpen ? "open" : "loopback"))
    #expect(finding?.isWarning == isOpen)
  }

  @Test("The identifiers of findings are unique in a topic")
  func identifiers() async {
    let fixture = ProbeFixture()
    let probe = await fixture.probe()
    await probe.signIn(SigningUser(fixture))
    let ids = ProbeReport(probe).findings.map { "\($0.topic.rawValue) \($0.id)" }
    #expect(Set(ids).count == ids.count, "\(ids)")
  }
}
