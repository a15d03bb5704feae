import Gateway
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing
import Time

@testable import Probe

/// The observations are equal to the quirks of the server.
@Suite("Quirks that a probe sees")
struct ProbeQuirkTests {
  @Test("A server without quirks: endpoints, checks before the login, exact redirect URIs, both methods")
  func plain() async {
    let seen = await ProbeFixture().probe().observations
    #expect(seen.documents.isEmpty)
    #expect(seen.authorization == .init(path: "/authorize", source: .search, isConfirmed: true))
    #expect(seen.token == .init(path: "/token", source: .search, isConfirmed: true))
    #expect(seen.revocation?.path == "/revoke")
    #expect(seen.introspection == nil)
    #expect(seen.unknownClient == .errorPage(status: 400))
    #expect(seen.knownClient == .login(path: "/login"))
    #expect(seen.validation == .beforeLogin)
    #expect(seen.unsupportedResponseType == .errorToApp(code: "unsupported_response_type", hasState: true))
    #expect(seen.unknownParameter == .ignored)
    #expect(seen.challenge == .ignored)
    #expect(seen.checksMethod == false)
    #expect(seen.acceptsPOST == true)
    #expect(seen.stateLimit == .atLeast(Probe.longestState))
    #expect(seen.redirects.count == 5)
    #expect(seen.redirects.values.allSatisfy { $0 == .errorPage(status: 400) })
    #expect(seen.tokenError?.error == "invalid_client")
    #expect(seen.tokenGET?.isOAuth == false)
    #expect(seen.basic == .accepted)
    #expect(seen.post == .accepted)
    #expect(seen.worksWithoutSecret == false)
    #expect(seen.badCode?.error == "invalid_grant")
    #expect(seen.verifierParameter == true)
    #expect(seen.tokenUnknownParameter == true)
  }

  @Test("The accepted method of client authentication becomes the setting")
  func authentication() async {
    let basic = await ProbeFixture(authentication: .basic).probe()
    #expect(basic.observations.basic == .accepted)
    #expect(basic.observations.post == .refused)
    #expect(!UpstreamBlock(ProbeReport(basic)).text.contains("authentication"))
    let post = await ProbeFixture(authentication: .post).probe()
    #expect(post.observations.basic == .refused)
    #expect(post.observations.post == .accepted)
    #expect(UpstreamBlock(ProbeReport(post)).text.contains("  authentication: post\n"))
  }

  @Test("A wrong secret is refused by both methods, and the report says so")
  func wrongSecret() async {
    let probe = await ProbeFixture().probe(ProbeFixture.options { $0.clientSecret = .init("wrong") })
    #expect(probe.observations.basic == .refused)
    #expect(probe.observations.post == .refused)
    #expect(ProbeReport(probe).findings.contains { $0.id == "authentication" && $0.isWarning })
  }

  @Test("Refused PKCE parameters are seen at both endpoints")
  func refusesPKCE() async {
    let seen = await ProbeFixture { $0.refusesPKCEParameters = true }.probe().observations
    #expect(seen.challenge == .refused(.errorToApp(code: "invalid_request", hasState: false)))
    #expect(seen.checksMethod == nil)
    #expect(seen.verifierParameter == false)
    #expect(seen.unknownParameter == .ignored)
  }

  /// Returns the text of the block for a server whose response to each request with a challenge is changed.
  private static func block(_ change: @escaping (inout Response) -> Void) async -> (block: String, probe: Probe) {
    let server = ProbeFixture().server
    let transport = MemoryTransport { request in
      var response = server.respond(to: request, now: 1_700_000_000)
      if request.target.contains("code_challenge") { change(&response) }
      return response
    }
    let probe = Probe(ProbeFixture.options(), ProbeSession(transport, maximumRequests: 200))
    await probe.run()
    return (UpstreamBlock(ProbeReport(probe)).text, probe)
  }

  @Test("A request with a challenge that is answered like one without sets `pkce: forward`, and the report says why")
  func forward() async {
    let changes: [(inout Response) -> Void] = [
      { _ in },
      // The login page gets the parameters of the request.
      { response in
        guard let location = response.headers["Location"] else { return }
        response.headers.set("Location", location + "&code_challenge=x&code_challenge_method=S256")
      },
    ]
    for change in changes {
      let (block, probe) = await Self.block(change)
      #expect(probe.observations.challenge == .ignored)
      #expect(block.contains("\n  pkce: forward\n"))
      let finding = ProbeReport(probe).findings.first { $0.id == "pkce_parameters" }
      #expect(finding?.advice?.contains("sets `pkce: forward`") == true)
    }
  }

  @Test("Any other answer to a request with a challenge leaves `pkce: strip`")
  func strip() async {
    let changes: [(Observations.Effect, (inout Response) -> Void)] = [
      (.changed, { $0.status = 307 }),
      (.changed, { $0.headers.set("Location", ($0.headers["Location"] ?? "") + "&reason=pkce") }),
      (.refused(.login(path: "/other")), { $0.headers.set("Location", "/other") }),
      (.refused(.errorPage(status: 500)), { $0 = Response(status: 500) }),
    ]
    for (effect, change) in changes {
      let (block, probe) = await Self.block(change)
      #expect(probe.observations.challenge == effect)
      #expect(!block.contains("pkce: forward"))
      let finding = ProbeReport(probe).findings.first { $0.id == "pkce_parameters" }
      #expect(finding?.advice?.contains("keep `pkce: strip`") == true)
    }
    let token = await ProbeFixture { $0.refusesPKCEParameters = true }.probe()
    #expect(!UpstreamBlock(ProbeReport(token)).text.contains("pkce: forward"))
  }

  @Test("Errors on pages, and errors at any redirect URI, are seen")
  func errors() async {
    let pages = await ProbeFixture { $0.errorsAsPages = true }.probe().observations
    #expect(pages.unsupportedResponseType == .page)
    let anywhere = await ProbeFixture { $0.redirectsErrorsAnywhere = true }.probe()
    #expect(anywhere.observations.redirects[.otherHost] == .errorToApp(code: "invalid_request", hasState: true))
    #expect(ProbeReport(anywhere).findings.contains { $0.value == "any_for_errors" && $0.isWarning })
  }

  @Test("The exact limit of `state` is found and becomes the setting", arguments: [14, 40, 255, 1_024, 2_047, 4_000])
  func stateLimit(_ limit: Int) async {
    let probe = await ProbeFixture { $0.stateLimit = limit }.probe()
    #expect(probe.observations.stateLimit == .exactly(limit))
    #expect(probe.observations.urlLimit == .atLeast(Probe.longestState))
    #expect(UpstreamBlock(ProbeReport(probe)).text.contains("  state_limit: \(limit)\n") == (limit < 4_096))
  }

  @Test("A server that accepts no usable `state` gets a warning, and no setting")
  func noState() async {
    let probe = await ProbeFixture { $0.stateLimit = 8 }.probe()
    #expect(probe.observations.stateLimit == .exactly(0))
    #expect(ProbeReport(probe).findings.contains { $0.id == "state_limit" && $0.isWarning })
  }

  @Test("Forms, names, statuses and codes of token errors are seen")
  func tokenErrors() async {
    let form = await ProbeFixture { $0.tokenFormat = .form }.probe().observations
    #expect(form.tokenError?.format == .form)
    #expect(form.tokenError?.error == "invalid_client")
    let name = await ProbeFixture { $0.tokenErrorName = "error_message" }.probe().observations
    #expect(name.tokenError?.errorName == "error_message")
    #expect(name.badCode?.error == "invalid_grant")
    let ok = await ProbeFixture { $0.tokenErrorsAre200 = true }.probe().observations
    #expect(ok.tokenError?.status == 200)
    #expect(ok.basic == .accepted)
    let code = await ProbeFixture {
      $0.badCodeError = "invalid_code"
      $0.tokenErrorStatus = 403
    }.probe().observations
    #expect(code.badCode?.error == "invalid_code")
    #expect(code.badCode?.status == 403)
    #expect(code.post == .accepted)
  }

  @Test("A token endpoint that processes GET gets a warning")
  func tokensOverGET() async {
    let probe = await ProbeFixture { $0.tokensOverGET = true }.probe()
    #expect(probe.observations.tokenGET?.isOAuth == true)
    #expect(ProbeReport(probe).findings.contains { $0.id == "token_get" && $0.isWarning })
  }

  @Test("The host with which the server answers is used for all other requests, and written where it is no default")
  func hosts() async {
    let cases: [(Origin.Scheme, String?, Int, Observations.Hosts, String?)] = [
      (.http, nil, 400, .both, nil), (.http, "gateway.test", 400, .publicOnly, nil),
      (.http, "legacy.test:9000", 403, .upstreamOnly, "host: upstream"),
      (.https, "gateway.test", 421, .publicOnly, "host: origin"), (.https, "legacy.test:9000", 400, .upstreamOnly, nil),
    ]
    for (scheme, accepted, status, expected, line) in cases {
      let server = ProbeFixture().server
      let transport = MemoryTransport { request in
        if let accepted, request.headers["Host"] != accepted { return Response(status: status) }
        return server.respond(to: request, now: 1_700_000_000)
      }
      let options = ProbeFixture.options { options in
        options.target = ProbeTarget(origin: Origin(scheme: scheme, host: "legacy.test", port: 9_000))
        options.gateway = Origin(scheme: .https, host: "gateway.test")
      }
      let probe = Probe(options, ProbeSession(transport, maximumRequests: 200))
      await probe.run()
      #expect(probe.observations.host == expected)
      #expect(probe.observations.knownClient == .login(path: "/login"), "\(String(describing: accepted))")
      let block = UpstreamBlock(ProbeReport(probe)).text
      #expect(block.contains("  host: ") == (line != nil))
      if let line { #expect(block.contains("  \(line)\n")) }
      #expect(ProbeReport(probe).findings.contains { $0.id == "host" } == (expected != .both))
    }
  }

  @Test("A server that knows only the public host redirects to its own page with it")
  func publicHostOnly() async {
    let server = ProbeFixture { $0.absoluteRedirects = true }.server
    let transport = MemoryTransport { request in
      guard request.headers["Host"] == "gateway.test" else { return Response(status: 400) }
      return server.respond(to: request, now: 1_700_000_000)
    }
    let options = ProbeFixture.options { $0.gateway = Origin(scheme: .https, host: "gateway.test") }
    let probe = Probe(options, ProbeSession(transport, maximumRequests: 200))
    await probe.run()
    #expect(probe.observations.knownClient == .login(path: "/login"))
  }

  @Test("A server that does not decode Basic credentials is found, and gets its own form")
  func rawBasic() async {
    let legacy = ProbeFixture().server
    let raw = BasicCredentials(user: "legacy-mail", password: Secret(ProbeFixture.secret)).rawHeader.reveal()
    let transport = MemoryTransport { request in
      var request = request
      let isRight = request.headers["Authorization"] == raw
      request.headers.remove("Authorization")
      if isRight {
        request.headers.set(
          "Authorization",
          BasicCredentials(user: "legacy-mail", password: Secret(ProbeFixture.secret)).header.reveal())
      } else if request.method == "POST" {
        request.body = Array(String(decoding: request.body, as: UTF8.self).replacing("client_secret", with: "x").utf8)
      }
      return legacy.respond(to: request, now: 1_700_000_000)
    }
    let probe = Probe(ProbeFixture.options(), ProbeSession(transport, maximumRequests: 200))
    await probe.run()
    #expect(probe.observations.basic != .accepted && probe.observations.post != .accepted)
    #expect(probe.observations.basicRaw == .accepted)
    #expect(UpstreamBlock(ProbeReport(probe)).text.contains("  authentication: basic_raw\n"))
  }

  @Test("The block lists the pages of the redirects, and never every path")
  func passedPaths() async {
    let block = UpstreamBlock(ProbeReport(await ProbeFixture().probe())).text
    #expect(block.contains("  pass: [\"/login\"]\n"))
  }

  @Test("Absolute redirects lead to the same page of the server")
  func absoluteRedirects() async {
    let seen = await ProbeFixture { $0.absoluteRedirects = true }.probe().observations
    #expect(seen.knownClient == .login(path: "/login"))
  }

  @Test("Without a client, the report names the options that answer the open questions")
  func withoutClient() async {
    let probe = await ProbeFixture().probe(ProbeOptions(ProbeFixture.target))
    let findings = ProbeReport(probe).findings
    #expect(probe.observations.validation == .beforeLogin)
    for id in ["errors", "pkce_parameters", "redirect_uris", "state_limit", "unknown_parameters"] {
      let finding = findings.first { $0.id == id }
      #expect(finding?.certainty == .notTested, "\(id)")
      #expect(finding?.text == "not tested: needs `--client-id` and `--redirect-uri`", "\(id)")
    }
  }

  @Test("A client that the server does not know gets a warning")
  func unknownClient() async {
    let probe = await ProbeFixture().probe(ProbeFixture.options { $0.clientID = "nobody" })
    #expect(probe.observations.knownClient == .errorPage(status: 400))
    #expect(probe.observations.validation == nil)
    #expect(ProbeReport(probe).findings.contains { $0.id == "client" && $0.isWarning })
  }

  @Test("The endpoints of each known server are found", arguments: EndpointFamily.all.indices)
  func families(_ index: Int) async {
    let family = EndpointFamily.all[index]
    let paths = LegacyPaths(
      authorization: [family.authorization], token: [family.token], revocation: Set([family.revocation ?? "/none"]))
    let seen = await ProbeFixture(paths: paths).probe().observations
    #expect(seen.authorization?.path == family.authorization)
    #expect(seen.token?.path == family.token)
    #expect(seen.revocation?.path == family.revocation)
  }
}
