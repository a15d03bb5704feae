import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// The `Host` that the server sees (`upstream.host`), and URLs and cookies of a server that does not know its public
/// address (`I-host`).
@Suite("I-host: the public host")
struct PublicHostTests {
  private static func hosts(_ gateway: GatewayFixture) -> [String] {
    gateway.upstream.recorder.requests.compactMap { $0.headers["Host"] }
  }

  private static func observing(_ adjust: (inout FixturePolicy) -> Void = { _ in }) throws -> Policy {
    try FixturePolicy.with { policy in
      policy.mode = .observe
      policy.unknownClients = .observe
      policy.editAll { $0.mode = .observe }
      adjust(&policy)
    }
  }

  // MARK: Host

  @Test("I-host: an http server gets the public host in passing requests, at endpoints and in requests of the gateway")
  func defaultOfHTTP() async throws {
    try await GatewayFixture.run { gateway in
      _ = try await gateway.get("/page")
      let code = try await gateway.code("p1")
      #expect(try await gateway.redeem(code, "p1").status == 200)
      let seen = Self.hosts(gateway)
      #expect(seen.count >= 4 && Set(seen) == ["gw.example"], "\(seen)")
    }
  }

  @Test("I-host: the public host has the port of the origin")
  func port() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      _ = try await gateway.get("/page")
      _ = try await gateway.get(gateway.authorizationTarget("p1"))
      #expect(Set(Self.hosts(gateway)) == ["127.0.0.1:\(gateway.port)"])
    }
  }

  @Test("I-host: each value of the setting reaches the server, also while nothing is enforced")
  func values() async throws {
    try await GatewayFixture.run(try Self.observing()) { gateway in
      let port = gateway.upstream.port
      let values: [(UpstreamHost, String)] = [
        (.upstream, "127.0.0.1:\(port)"), (.name("id.internal:8443"), "id.internal:8443"), (.origin, "gw.example"),
      ]
      for (value, expected) in values {
        await gateway.reload { $0.upstream.host = value }
        let before = Self.hosts(gateway).count
        _ = try await gateway.get("/page")
        _ = try await gateway.get(gateway.authorizationTarget("p1"))
        #expect(Set(Self.hosts(gateway).dropFirst(before)) == [expected])
      }
    }
  }

  @Test("I-host: by default, the scheme of the server decides on the host")
  func defaults() throws {
    let gateway = Origin(scheme: .https, host: "gw.example", port: 8_443)
    func host(_ origin: Origin, unixSocket: String? = nil, _ host: UpstreamHost? = nil) -> String {
      var upstream = UpstreamSettings(origin: origin, endpoints: EndpointPaths(authorization: [], token: []))
      upstream.unixSocket = unixSocket
      upstream.host = host
      return upstream.authority(for: gateway)
    }
    let http = Origin(scheme: .http, host: "10.0.0.1", port: 9_000)
    let https = Origin(scheme: .https, host: "login.vendor.example")
    #expect(host(http) == "gw.example:8443")
    #expect(host(Origin(scheme: .http, host: "localhost"), unixSocket: "/run/s") == "gw.example:8443")
    #expect(host(https) == "login.vendor.example")
    #expect(host(https, .origin) == "gw.example:8443")
    #expect(host(http, .upstream) == "10.0.0.1:9000")
    #expect(host(https, .name("b.example")) == "b.example")
  }

  // MARK: Locations

  @Test(
    "I-host: a URL of the server with a host that the gateway sends, or with the public host and http, leads to the gateway",
    arguments: ["/page", "/authorize"], ["Location", "Refresh", "Content-Location"])
  func locations(path: String, field: String) async throws {
    try await GatewayFixture.run { gateway in
      let port = gateway.upstream.port
      // The first page of a sign-in is requested twice, so the requests belong to one that has begun.
      let begun = path == "/page" ? nil : try await gateway.begin()
      let cases: [(UpstreamHost?, String)] = [
        (nil, "http://gw.example"), (nil, "http://GW.example:80"), (nil, "http://127.0.0.1:\(port)"),
        (.upstream, "https://127.0.0.1:\(port)"), (.name("id.internal"), "http://id.internal"),
        (.name("id.internal"), "https://id.internal"), (.name("id.internal"), "http://gw.example"),
      ]
      for (host, origin) in cases {
        await gateway.reload { $0.upstream.host = host }
        gateway.upstream.script { _ in
          let value = (field == "Refresh" ? "0; url=" : "") + "\(origin)/login?a=b"
          return Response(status: field == "Location" ? 302 : 200, headers: Headers([.init(name: field, value: value)]))
        }
        let answer = try await gateway.get(
          begun?.target ?? path, begun.map { Headers.cookies([$0.cookie]) } ?? Headers())
        let expected = (field == "Refresh" ? "0; url=" : "") + "https://gw.example/login?a=b"
        #expect(answer.headers[field] == expected, "\(origin)")
      }
      // A passing response has a line of its own, at most once a minute.
      let lines = gateway.logLines.filter { $0.contains(#""location-insecure""#) }
      #expect(lines.count == (path == "/page" ? 1 : 3), "\(lines)")
    }
  }

  @Test("I-host: hosts that begin like the public host are left alone")
  func otherHosts() async throws {
    try await GatewayFixture.run { gateway in
      for location in ["http://gw.example.org/", "http://gw.example:8080/", "http://gw.example@evil.example/"] {
        gateway.upstream.script { _ in Response(status: 302, headers: ["Location": location]) }
        let page = try await gateway.get("/page")
        let answer = try await gateway.get(gateway.authorizationTarget("p1"))
        #expect(page.location == location && answer.location == location)
      }
    }
  }

  @Test("I-host: in observe mode, a URL with http and a foreign cookie domain stay as they are, and are findings")
  func observed() async throws {
    try await GatewayFixture.run(try Self.observing()) { gateway in
      let cookie = "sid=1; Domain=legacy.internal; Path=/"
      gateway.upstream.script { _ in
        Response(status: 302, headers: ["Location": "http://gw.example/login", "Set-Cookie": cookie])
      }
      for target in ["/page", gateway.authorizationTarget("p1")] {
        let before = gateway.logLines.count
        let answer = try await gateway.get(target)
        #expect(answer.location == "http://gw.example/login")
        #expect(answer.headers.all("Set-Cookie") == [cookie])
        let lines = gateway.logLines.dropFirst(before).joined()
        #expect(lines.contains("location-insecure") && lines.contains("cookie-domain"), "\(lines)")
        #expect(lines.contains(#""mode":"observe""#))
      }
    }
  }

  @Test("I-host: a POST that is repeated at the public host with http is repeated with https")
  func repeatedPost() async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in Response(status: 307, headers: ["Location": "http://gw.example/login"]) }
      let answer = try await gateway.post("/login", ["password": "p"])
      #expect(answer.status == 307)
      #expect(answer.location == "https://gw.example/login")
    }
  }

  // MARK: Cookies

  @Test(
    "I-host: a cookie domain that does not contain the public host is dropped, and others are kept",
    arguments: [
      ("sid=1; Domain=legacy.internal; Path=/; Secure", "sid=1; Path=/; Secure", true),
      ("sid=1; path=/; DOMAIN = .Legacy.Internal ; Secure", "sid=1; path=/; Secure", true),
      ("sid=1; Domain=ample; Secure", "sid=1; Secure", true),
      ("sid=1; Domain=a.gw.example; Domain=b.internal; Secure", "sid=1; Secure", true),
      ("sid=1; Domain=a.internal", "sid=1; Secure", true),
      ("sid=1; Domain=gw.example; Secure", "sid=1; Domain=gw.example; Secure", false),
      ("sid=1; Domain=.Example; Secure", "sid=1; Domain=.Example; Secure", false),
      ("sid=1; Domain=; Secure", "sid=1; Domain=; Secure", false),
      ("sid=Domain=x; Secure", "sid=Domain=x; Secure", false),
    ])
  func cookieDomains(cookie: String, expected: String, isForeign: Bool) async throws {
    try await GatewayFixture.run { gateway in
      gateway.upstream.script { _ in
        Response(status: 200, headers: Headers([.init(name: "Set-Cookie", value: cookie)]))
      }
      for target in ["/page", gateway.authorizationTarget("p1")] {
        let before = gateway.logLines.count
        let answer = try await gateway.get(target)
        #expect(answer.headers.all("Set-Cookie").contains(expected), "\(answer.headers.all("Set-Cookie"))")
        #expect(gateway.logLines.dropFirst(before).contains { $0.contains(#""cookie-domain""#) } == isForeign)
      }
    }
  }

  @Test("I-host: the cookie of a completed sign-in loses a foreign domain, too")
  func completed() async throws {
    try await GatewayFixture.run { gateway in
      let begun = try await gateway.begin("p1")
      gateway.upstream.script { _ in
        Response(
          status: 302,
          headers: [
            "Location": "\(gateway.policy.callback)?code=abcdefghijkl&state=\(begun.state)",
            "Set-Cookie": "sid=1; Domain=legacy.internal",
          ])
      }
      let answer = try await gateway.get(begun.target, Headers.cookies([begun.cookie]))
      #expect(answer.headers.all("Set-Cookie").contains("sid=1; Secure"))
      #expect(gateway.logLines.contains { $0.contains("cookie-domain") })
    }
  }

  @Test("I-host: an address is no part of a longer address")
  func addresses() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      gateway.upstream.script { _ in
        Response(
          status: 200,
          headers: Headers([
            .init(name: "Set-Cookie", value: "a=1; Domain=0.0.1"),
            .init(name: "Set-Cookie", value: "b=1; Domain=127.0.0.1"),
          ]))
      }
      let answer = try await gateway.get("/page")
      #expect(answer.headers.all("Set-Cookie") == ["a=1", "b=1; Domain=127.0.0.1"])
    }
  }
}
