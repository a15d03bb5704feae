import Testing

@testable import Rollout

/// The policy that `learn` writes.
@Suite("Starter policy")
struct StarterPolicyTests {
  private static func traffic(_ lines: String...) -> Traffic {
    var traffic = Traffic()
    for line in lines { traffic.add(Array(line.utf8)) }
    return traffic
  }

  private static func access(_ target: String, method: String = "GET") -> String {
    #"192.0.2.1 - - [24/Nov/2026:10:00:00 +0100] "\#(method) \#(target) HTTP/1.1" 302 0 "-" "agent \"x\"""#
  }

  @Test("An authorization request in an access log gives client, path, redirect URI, PKCE and scopes, but no state")
  func accessLog() throws {
    let traffic = Self.traffic(
      Self.access(
        "/oauth/authorize?response_type=code&client_id=mail&redirect_uri=http%3A%2F%2F127.0.0.1%3A5001%2Fcb"
          + "&scope=mail+profile&state=hidden-state"),
      Self.access(
        "/oauth/authorize?response_type=code&client_id=mail&redirect_uri=http%3A%2F%2F127.0.0.1%3A6002%2Fcb"
          + "&code_challenge=hidden&code_challenge_method=S256"),
      Self.access("/oauth/token", method: "POST"))
    let client = try #require(traffic.clients["mail"])
    #expect(client.redirectURIs.counts == ["http://127.0.0.1/cb": 2])
    #expect(client.pkce.counts == ["none": 1, "S256": 1])
    #expect(client.scopes.counts == ["mail": 1, "profile": 1])
    #expect(client.all.first == "2026-11-24T10:00:00+01:00")
    let text = StarterPolicy(traffic, upstream: "http://127.0.0.1:9000").text
    #expect(text.contains("authorization: \"/oauth/authorize\"\n    token: \"/oauth/token\"\n"))
    #expect(text.contains("- \"http://127.0.0.1/cb\"  # 2 requests\n"))
    #expect(text.contains("# TODO: the app sends no PKCE; `proofgate rules pkce-required` (1 requests).\n"))
    #expect(!text.contains("hidden"))
    // An access log does not name the client of a token request.
    #expect(!text.contains("is the id in use?"))
  }

  @Test("A native app has its upstream settings in a comment, with a secret if it sends one, and the usual grants")
  func upstreamSettings() {
    func line(_ endpoint: String, _ members: String) -> String {
      #"{"event":"decision","time":"2026-11-24T10:00:00.000Z","endpoint":"\#(endpoint)","client":"a","#
        + #""decision":"forward","mode":"observe","upstream_status":200,\#(members)}"#
    }
    let request = line("authorization", #""redirect_uri":"com.example.a:/cb","pkce":"none""#)
    for method in ["basic", "post"] {
      let text = StarterPolicy(
        Self.traffic(
          request, line("token", #""grant":"authorization_code","client_authentication":"\#(method)""#)),
        upstream: nil
      ).text
      #expect(
        text.contains(
          "    # upstream: { redirect_uri: callback, client_secret: { file: TODO }, authentication: \(method) }\n"),
        "\(text)")
      #expect(text.contains("    grants: [authorization_code, refresh_token]\n"))
    }
    let open = StarterPolicy(
      Self.traffic(request, line("token", #""grant":"authorization_code","client_authentication":"none""#)),
      upstream: nil
    ).text
    #expect(open.contains("    # upstream: { redirect_uri: callback }\n"), "\(open)")
  }

  @Test("Ids without a token request that the server has accepted are marked, and follow the others")
  func unusedIDs() throws {
    func line(_ client: String, _ endpoint: String, _ status: Int) -> String {
      #"{"event":"decision","time":"2026-11-24T10:00:00.000Z","endpoint":"\#(endpoint)","client":"\#(client)","#
        + #""decision":"would_reject","upstream_status":\#(status)}"#
    }
    let text = StarterPolicy(
      Self.traffic(
        line("a", "authorization", 302), line("a", "authorization", 302), line("b", "token", 401),
        line("b", "token", 401), line("c", "token", 200)),
      upstream: nil
    ).text
    let places = try ["c", "a", "b"].map { try #require(text.firstRange(of: "- id: \"\($0)\"")).lowerBound }
    #expect(places == places.sorted())
    #expect(text.contains("no token request with this id was seen in the log; is the id in use?"))
    #expect(text.contains("the server accepted no token request with this id; is the id in use?"))
  }

  @Test("The policy has the paths from which the server has sent codes that it accepted, each only as a plain prefix")
  func completionPaths() {
    func line(_ path: String, _ status: Int = 200, endpoint: String = "token") -> String {
      #"{"event":"decision","time":"2026-11-24T10:00:00.000Z","endpoint":"\#(endpoint)","client":"a","#
        + #""decision":"forward","mode":"observe","path":"\#(path)","upstream_status":\#(status)}"#
    }
    let traffic = Self.traffic(
      line("/login"), line("/interaction/*/done"), line("/interaction/*/done"), line("/interaction/*/other"),
      line("/refused", 400), line("/back", 302, endpoint: "response"), line("/back", 0, endpoint: "path"), line("/*/x"),
      line("/.proofgate/x"), line("/a/../b"), line("/a\\nb"), line("/a%2fb"), line("no/path"))
    let text = StarterPolicy(traffic, upstream: nil).text
    #expect(text.contains("  completion_paths: [\"/interaction\", \"/login\"]\n"), "\(text)")
    let report = ReadinessReport(traffic, listed: nil)
    #expect(report.completionPaths == ["/interaction", "/login"])
    #expect(report.text.contains("completion_paths: [\"/interaction\", \"/login\"]"))
    let without = StarterPolicy(Self.traffic(line("/back", 400)), upstream: nil).text
    #expect(!without.contains("  completion_paths:") && without.contains("# TODO: `completion_paths`"))
  }

  @Test("Texts of a log cannot leave their quotes, in an entry or in a comment")
  func injection() {
    let hostile = "x\"\n  - id: evil\n#\u{85}\u{2028}\u{1b}\\"
    #expect(
      YAMLText.quoted(hostile) == "\"x\\\"\\u000a  - id: evil\\u000a#\\u0085\\u2028\\u001b\\\\\"")
    #expect(YAMLText.quoted("\u{1F600}") == "\"\\U0001f600\"")
    let line = """
      {"event":"decision","time":"2026\\n- id: evil","endpoint":"authorization","client":"a\\n  - id: evil",\
      "decision":"forward","redirect_uri":"b\\n      - evil:/","scope":"c\\n#","response_type":"d\\ne","pkce":"\\r"}
      """
    let text = StarterPolicy(Self.traffic(line), upstream: "u\nevil").text
    #expect(!text.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("- id: evil") })
    #expect(text.utf8.allSatisfy { $0 == 0x0a || (0x20...0x7e).contains($0) })
  }

  @Test("An http redirect URI with another host is named in a comment without its query; user information is not shown")
  func malformed() {
    func request(_ uri: String) -> String {
      Self.access("/authorize?response_type=token&client_id=old&redirect_uri=\(uri)")
    }
    let text = StarterPolicy(
      Self.traffic(request("http://app.example.com/cb%3Fk=hidden"), request("http://u:hidden@a.example/")),
      upstream: nil
    ).text
    #expect(text.contains("# TODO: redirect URI \"http://app.example.com/cb\" (1 requests).\n"))
    #expect(text.contains("response type \"token\"; use `code` (2 requests)"))
    #expect(!text.contains("hidden"))
  }

  @Test("A line in no known format, or longer than 64 KiB, is counted")
  func unreadable() {
    let traffic = Self.traffic(
      "not a line", "{", "{}", String(repeating: "x", count: 65 * 1024), "", Self.access("/"),
      #"{"time":"2026-11-24T10:00:00.000Z","event":"dropped","lines":3}"#,
      #"192.0.2.1 - - [99/Foo/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 0"#)
    #expect(traffic.unreadableLines == 5)
    #expect(traffic.otherLines == 2)
    #expect(traffic.requestLines == 0)
  }

  @Test("The number of clients and of redirect URIs is bounded, and the rest is counted")
  func bounded() throws {
    var traffic = Traffic()
    for number in 0..<(Traffic.maximumClients + 5) {
      traffic.add(Array(Self.access("/a?response_type=code&client_id=c\(number)").utf8))
    }
    traffic.removeLeastUsed()
    #expect(traffic.clients.count == Traffic.maximumClients)
    #expect(traffic.omittedRequests == 5)
    for number in 0..<60 {
      let uri = "https://a.example/\(number)"
      traffic.add(Array(Self.access("/a?response_type=code&client_id=c1&redirect_uri=\(uri)").utf8))
    }
    let client = try #require(traffic.clients["c1"])
    #expect(client.redirectURIs.counts.count == 50)
    #expect(client.redirectURIs.omitted == 10)
  }

  @Test("A finding about a redirect URI turns only its line into a comment, and one about a client the whole entry")
  func reject() throws {
    var policy = StarterPolicy(
      Self.traffic(
        Self.access("/a?response_type=code&client_id=mail&redirect_uri=com.example.mail:/cb"),
        Self.access("/a?response_type=code&client_id=mail&redirect_uri=mail:/cb")),
      upstream: nil)
    let line = try #require(policy.lines.firstIndex { $0.text.contains("\"mail:/cb\"") }) + 1
    let changes1 = policy.reject([(line, "a\nreason")])
    #expect(changes1)
    #expect(
      policy.text.contains("      # TODO: cannot be listed, \"a\\u000areason\"\n      # - \"mail:/cb\"  # 1 requests\n")
    )
    #expect(policy.text.contains("\n      - \"com.example.mail:/cb\"  # 1 requests\n"))
    let changes2 = policy.reject([(1, "no client")])
    #expect(!changes2)
    let entry = try #require(policy.lines.firstIndex { $0.text.contains("- id:") }) + 1
    let changes3 = policy.reject([(entry, "a reason")])
    #expect(changes3)
    #expect(policy.text.contains("\nclients: []\n"))
    #expect(policy.clientCount == 0 && policy.rejectedCount == 2)
  }
}
