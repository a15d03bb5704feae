import Proxy
import Reactor
import Testing

extension ProxyTests {
  struct IdentityTests {
    private static let forged = [
      "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https", "X-Forwarded-Host: evil.test", "Forwarded: for=1.2.3.4",
      "X-Real-IP: 1.2.3.4", "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "X_Forwarded_For: 1.2.3.4",
      "Remote-User: root",
      "X_Original_URL: /admin", "X-Forwarded-User: root", "Proxy: http://evil.test", "X-Client-Cert: x",
      "iv-user: root", "SM_USER: root", "OAM_REMOTE_USER: root", "$WSRU: root", "WL-Proxy-Client-Cert: x",
      "X-ARR-ClientCert: x", "X-MS-Client-Principal: x", "Ssl-Client-S-Dn: CN=root", "X_Case: x",
    ]

    @Test("Identity fields of a client do not go upstream (attack class 11)")
    func untrusted() async throws {
      try await Bench.Setup().run { _, bench in
        let client = try await bench.connect()
        let lines = IdentityTests.forged.map { "\($0)\r\n" }.joined()
        try await client.send("GET / HTTP/1.1\r\nHost: gateway.test:81\r\n\(lines)\r\n")
        _ = try await client.readResponse()
        let request = bench.upstream.requests.last
        #expect(
          request?.names == ["Host", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Forwarded-Host"])
        #expect(request?["X-Forwarded-For"] == "127.0.0.1")
        #expect(request?["X-Forwarded-Proto"] == "http")
        #expect(request?["Forwarded"] == "for=127.0.0.1;proto=http;host=\"gateway.test:81\"")
        #expect(request?["X-Forwarded-Host"] == "gateway.test:81")
        let facts = try await bench.get("/facts", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Proto: https")
        #expect(facts.text == "127.0.0.1 false -")
      }
    }

    @Test("Identity fields of a trusted proxy go upstream, but not fields that name another path or host")
    func trustedIdentity() async throws {
      try await Bench.Setup(configure: { $0.trusts = { $0.isLoopback } }).run { _, bench in
        let client = try await bench.connect()
        let lines = IdentityTests.forged.map { "\($0)\r\n" }.joined()
        try await client.send("GET / HTTP/1.1\r\nHost: gateway.test\r\nX-Case: y\r\n\(lines)\r\n")
        _ = try await client.readResponse()
        #expect(
          bench.upstream.requests.last?.names == [
            "Host", "X-Case", "X-Real-IP", "Remote-User", "X-Forwarded-User", "X-Client-Cert", "iv-user", "SM_USER",
            "OAM_REMOTE_USER", "$WSRU", "WL-Proxy-Client-Cert", "X-ARR-ClientCert", "X-MS-Client-Principal",
            "Ssl-Client-S-Dn", "Via", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Forwarded-Host",
          ])
      }
    }

    @Test("The forwarding fields of a trusted proxy count, but not the values that an earlier hop added")
    func trusted() async throws {
      try await Bench.Setup(configure: { $0.trusts = { $0.isLoopback } }).run { _, bench in
        _ = try await bench.get(
          "/", "X-Forwarded-For: 6.6.6.6, 192.0.2.7", "X-Forwarded-Proto: http, https", "X-Forwarded-Host: public.test")
        let request = bench.upstream.requests.last
        #expect(request?["X-Forwarded-For"] == "192.0.2.7, 127.0.0.1")
        #expect(request?["X-Forwarded-Proto"] == "https")
        #expect(request?["Forwarded"] == "for=192.0.2.7;proto=https;host=\"public.test\"")
        #expect(request?["X-Forwarded-Host"] == "public.test")
        for (lines, facts) in [
          (["X-Forwarded-For: 6.6.6.6", "X-Forwarded-For: 2001:db8::1"], "2001:db8::1 false -"),
          (["X-Forwarded-For: 6.6.6.6, unknown"], "127.0.0.1 false -"),
          (["X-Forwarded-Proto: https", "X-Forwarded-Proto: http"], "127.0.0.1 false -"),
          (["X-Forwarded-For:"], "127.0.0.1 false -"),
          (["X-Forwarded-For: 6.6.6.6\u{600},192.0.2.7"], "192.0.2.7 false -"),
          (["X-Forwarded-For: 6.6.6.6, 198.51.100.1:51234"], "198.51.100.1 false -"),
          (["X-Forwarded-For: 6.6.6.6, [2001:db8::1]:443"], "2001:db8::1 false -"),
          (["X-Forwarded-For: 6.6.6.6, [2001:db8::1]"], "2001:db8::1 false -"),
          (["X-Forwarded-For: 6.6.6.6, 198.51.100.1:"], "127.0.0.1 false -"),
          (["X-Forwarded-For: 6.6.6.6, 198.51.100.1:x"], "127.0.0.1 false -"),
          (["X-Forwarded-For: 6.6.6.6, [2001:db8::1"], "127.0.0.1 false -"),
          (["X-Forwarded-Proto: WSS"], "127.0.0.1 true -"),
          (["Forwarded: for=203.0.113.7;host=id.example.com;proto=https"], "203.0.113.7 true id.example.com"),
          (["Forwarded: for=6.6.6.6;proto=https, By=x; For=\"[2001:db8::9]:4711\""], "2001:db8::9 false -"),
          (["Forwarded: proto=https;for=\"6.6.6.6", "Forwarded: for=192.0.2.7"], "192.0.2.7 false -"),
          (["Forwarded: for=6.6.6.6, for=unknown"], "127.0.0.1 false -"),
          // A client's `Forwarded` that the proxy does not know does not count if the proxy has fields of its own.
          (["Forwarded: for=6.6.6.6;proto=https", "X-Forwarded-For: 192.0.2.7"], "192.0.2.7 false -"),
        ] {
          let response = try await bench.exchange(
            "GET /facts HTTP/1.1\r\nHost: a\r\n\(lines.map { "\($0)\r\n" }.joined())\r\n")
          #expect(response.text == facts)
        }
        _ = try await bench.get("/", "X-Forwarded-For: 2001:db8::1", "X-Forwarded-Host: a\"b")
        #expect(bench.upstream.requests.last?["Forwarded"] == "for=\"[2001:db8::1]\";proto=http;host=\"gateway.test\"")
      }
    }

    @Test("The addresses of trusted proxies in a row lead to the client, and no further")
    func chain() async throws {
      let trusts: @Sendable (Address) -> Bool = { $0.isLoopback || $0.host.hasPrefix("10.") }
      try await Bench.Setup(configure: { $0.trusts = trusts }).run { _, bench in
        for (lines, chain) in [
          (["X-Forwarded-For: 6.6.6.6, 192.0.2.7, 10.0.0.1, 10.0.0.2:99"], "192.0.2.7, 10.0.0.1, 10.0.0.2, 127.0.0.1"),
          (["X-Forwarded-For: 6.6.6.6, 192.0.2.7", "X-Forwarded-For: 10.0.0.2"], "192.0.2.7, 10.0.0.2, 127.0.0.1"),
          (["X-Forwarded-For: 6.6.6.6, unknown, 10.0.0.2"], "10.0.0.2, 127.0.0.1"),
          (["X-Forwarded-For: , ,10.0.0.1,, 10.0.0.2,"], "10.0.0.1, 10.0.0.2, 127.0.0.1"),
          (["Forwarded: for=6.6.6.6, for=192.0.2.7, for=10.0.0.1"], "192.0.2.7, 10.0.0.1, 127.0.0.1"),
        ] {
          _ = try await bench.exchange(
            "GET / HTTP/1.1\r\nHost: a\r\n\(lines.map { "\($0)\r\n" }.joined())\r\n")
          #expect(bench.upstream.requests.last?["X-Forwarded-For"] == chain)
        }
        // The number of hops is limited, so that the field that goes upstream is, too.
        let hops = (0..<200).map { "10.0.0.\($0)" }.joined(separator: ",")
        _ = try await bench.get("/", "X-Forwarded-For: 6.6.6.6,\(hops)")
        let sent = bench.upstream.requests.last?["X-Forwarded-For"]
        #expect(sent?.split(separator: ",").count == 9)
      }
    }

    @Test("The private cookie does not go upstream, in any spelling (I-browser)")
    func requestCookie() async throws {
      try await Bench.Setup().run { _, bench in
        for (sent, arrived) in [
          ("__Host-private=1", []), ("a=b; __Host-private=1; c=d", ["a=b; c=d"]), ("__host-PRIVATE=1;a=b", ["a=b"]),
          ("a=b;__Host-private", ["a=b"]), ("__Host-private = 1; a=b", ["a=b"]),
          ("a=__Host-private=1", ["a=__Host-private=1"]),
          ("__Host-private2=1", ["__Host-private2=1"]), (";; __Host-private=1;;a=b;c=d", ["a=b;c=d"]),
          ("__Host-private=1; __Host-private=2", []),
        ] as [(String, [String])] {
          let response = try await bench.get("/", "Cookie: \(sent)")
          #expect(response.status == 200)
          #expect(bench.upstream.requests.last?.all("Cookie") == arrived)
          let carries = !sent.contains("private2") && !sent.hasPrefix("a=__")
          #expect(response["X-Edited"] == (carries ? "1" : nil))
        }
        _ = try await bench.get("/", "Cookie: a=b", "Cookie: __Host-private=1", "Cookie: c=d")
        #expect(bench.upstream.requests.last?.all("Cookie") == ["a=b", "c=d"])
      }
    }

    @Test("The upstream cannot set the private cookie, for any kind of request (I-browser)")
    func responseCookie() async throws {
      try await Bench.Setup(
        upstream: ScriptedUpstream.answering(
          "HTTP/1.1 200 OK\r\nSet-Cookie: __Host-private=evil; Path=/\r\nSet-Cookie: a=b\r\nSet-Cookie: __HOST-private=evil\r\n"
            + "Set-Cookie: =__Host-private=evil\r\nSet-Cookie:  =  __Host-private=evil\r\nContent-Length: 2\r\n\r\nok")
      ).run { _, bench in
        for (target, fields) in [("/", "X: y"), ("/", "Cookie: __Host-private=1"), ("/intercept/relay", "X: y")] {
          let response = try await bench.get(target, fields)
          #expect(response.all("Set-Cookie") == ["a=b"])
          #expect(response.text == "ok")
        }
      }
    }

    private static func redirecting(_ fields: String) -> ScriptedUpstream.Script {
      ScriptedUpstream.answering("HTTP/1.1 302 Found\r\n\(fields)\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(
      "Locations on the upstream's own origin are changed to the gateway's origin",
      arguments: [
        ("http://upstream.test/a?b", "https://gateway.test/a?b"), ("http://upstream.test", "https://gateway.test"),
        ("http://upstream.test?x", "https://gateway.test?x"),
        ("http://upstream.test.evil/", "http://upstream.test.evil/"),
        ("http://upstream.test@evil/", "http://upstream.test@evil/"),
        ("http://upstream.test:81/", "http://upstream.test:81/"),
        ("/relative", "/relative"), ("https://upstream.test/", "https://upstream.test/"), ("/replaced", "/replacement"),
        // The server does not know that browsers use https.
        ("http://gateway.test/login?a", "https://gateway.test/login?a"),
        ("HTTP://Gateway.test", "https://gateway.test"),
        ("http://gateway.test:80/", "https://gateway.test/"), ("http://gateway.test:81/", "http://gateway.test:81/"),
        ("http://gateway.test.evil/", "http://gateway.test.evil/"),
      ])
    func location(_ sent: String, _ arrived: String) async throws {
      let setup = Bench.Setup(
        upstream: IdentityTests.redirecting("Location: \(sent)"),
        configure: {
          $0.insecureOrigins = ["http://gateway.test", "http://gateway.test:80"]
          $0.upgradesInsecureOrigins = true
        })
      try await setup.run { _, bench in
        for cookie in ["a=b", "__Host-private=1"] {
          let response = try await bench.get("/", "Cookie: \(cookie)")
          #expect(response.status == 302)
          #expect(response.all("Location") == [arrived])
        }
      }
    }

    @Test(
      "A location that must not reach the browser gives 502",
      arguments: [
        "Location: /forbidden", "Refresh: 0; url=/forbidden", "Location: /a\r\nLocation: /b",
        "Location: /replaced\r\nLocation: /b",
        "Location: /a\r\nRefresh: 0; url=/forbidden", "Refresh: 1\r\nRefresh: 2", "Location: /unsafe",
        "Location: /a\r\nRefresh: 1\r\nLocation: /b",
      ])
    func refusedLocation(_ fields: String) async throws {
      try await Bench.Setup(upstream: IdentityTests.redirecting(fields)).run { _, bench in
        for cookie in ["a=b", "__Host-private=1"] {
          let response = try await bench.get("/", "Cookie: \(cookie)")
          #expect(response.status == 502)
          #expect(response.all("Location").isEmpty && response.all("Set-Cookie").isEmpty)
        }
      }
    }

    @Test("The handler can replace a Refresh field, and a replacement that does not fit gives 502")
    func replacements() async throws {
      try await Bench.Setup(upstream: IdentityTests.redirecting("Refresh: 0; url=/replaced")).run { _, bench in
        let response = try await bench.get("/")
        #expect(response.all("Refresh") == ["/replacement"])
      }
      try await Bench.Setup(upstream: IdentityTests.redirecting("Location: /long")).run { _, bench in
        let response = try await bench.get("/")
        #expect(response.status == 502)
      }
    }
  }
}
