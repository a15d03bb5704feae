import GatewayTestSupport
import HTTP
import JSON
import LegacyServer
import OAuth
import Policy
import Reactor
import Testing

@testable import Gateway

/// The id of a request in the log, on pages, in responses and in requests to the upstream.
@Suite("Request ids")
struct RequestIDTests {
  private static let given = "4bf92f3577b34da6-a3ce:929d/0e0e=4736.x_y~z+"

  private static func rejected(_ gateway: GatewayFixture, _ headers: Headers = [:]) async throws -> Response {
    try await gateway.get("/authorize?client_id=nobody-knows", headers)
  }

  @Test("The id of a trusted proxy is on the error page, in the response, in the log and upstream")
  func given() async throws {
    try await GatewayFixture.run { gateway in
      let headers: Headers = ["X-Request-ID": Self.given]
      let page = try await Self.rejected(gateway, headers)
      #expect(page.headers.all("X-Request-ID") == [Self.given])
      #expect(page.text.contains("<dt>Request</dt><dd><code class=\"copied\">\(Self.given)</code>"), "\(page.text)")
      #expect(gateway.logLines.last?.member("request") == Self.given)
      let begun = try await gateway.get(gateway.authorizationTarget("p1"), headers)
      #expect(begun.status == 302 && begun.headers["X-Request-ID"] == Self.given)
      let sent = try #require(gateway.upstream.recorder.requests.last)
      #expect(sent.headers.all("X-Request-ID") == [Self.given])
      let code = try await gateway.code("p1")
      let tokens = try await gateway.post("/token", gateway.tokenForm(code, "p1"), headers)
      #expect(tokens.status == 200 && tokens.headers["X-Request-ID"] == Self.given)
      #expect(gateway.upstream.recorder.requests.last?.headers.all("X-Request-ID") == [Self.given])
      #expect(gateway.logLines.last?.member("request") == Self.given)
    }
  }

  @Test("An id that the gateway made begins with a letter, so that no command takes it for an option")
  func first() {
    let key = RequestIDs.Key()
    for number in 0..<2_000 {
      let id = RequestIDs(key, space: number % 8).id(UInt64(number))
      #expect(id.utf8.count == 22 && id.first?.isLetter ?? false, "\(id)")
    }
    let ids = (0..<2_000).flatMap { number in (0..<2).map { RequestIDs(key, space: $0).id(number) } }
    #expect(Set(ids).count == 4_000)
    let traces = (0..<2_000).map { RequestIDs(key, space: 0).traceBytes($0) }
    #expect(Set(traces).count == 2_000 && traces.allSatisfy { $0.count == 24 })
  }

  @Test("Without an id of the proxy, the page, the response, error_uri and the log have the id that the gateway made")
  func made() async throws {
    try await GatewayFixture.run { gateway in
      let page = try await Self.rejected(gateway)
      let id = try #require(page.headers["X-Request-ID"])
      #expect(id.utf8.count == 22 && page.text.contains(">\(id)</code>"))
      #expect(gateway.logLines.last?.member("request") == id)
      let target = gateway.authorizationTarget("n1") { $0.remove("code_challenge") }
      let redirect = try await gateway.get(target)
      let uri = try #require(redirect.answer["error_uri"])
      #expect(uri.hasSuffix("#request=\(redirect.headers["X-Request-ID"] ?? "-")"), "\(uri)")
      let token = try await gateway.redeem("x", "p1")
      let members = try #require(JSONValue.members(of: token.body))
      let tokenID = token.headers["X-Request-ID"] ?? "-"
      #expect(members["error_uri"]?.text?.hasSuffix("#request=\(tokenID)") == true)
      #expect(gateway.logLines.last?.member("request") == tokenID)
    }
  }

  @Test(
    "A repeated, long, empty or malformed id of the proxy is replaced",
    arguments: [
      ["a", "b"], [""], [String(repeating: "a", count: 129)], ["<script>"], ["a b"], ["a\"b"], ["é"], ["a,b"], ["a#b"],
    ])
  func malformed(_ values: [String]) async throws {
    try await GatewayFixture.run { gateway in
      let page = try await Self.rejected(gateway, Headers(values.map { .init(name: "X-Request-ID", value: $0) }))
      let id = try #require(page.headers.onlyValue(of: "X-Request-ID"))
      #expect(id.utf8.count == 22 && !values.contains(id))
      #expect(gateway.logLines.last?.member("request") == id)
    }
  }

  @Test("A peer that is not a trusted proxy does not choose the id of its request, also under a folded name")
  func untrusted() async throws {
    try await GatewayFixture.run(try FixturePolicy.onLoopback()) { gateway in
      for name in ["X-Request-ID", "x-request-id", "X_Request_ID"] {
        let page = try await Self.rejected(gateway, [name: Self.given])
        #expect(page.headers["X-Request-ID"]?.utf8.count == 22)
        #expect(!page.text.contains(Self.given))
        _ = try await gateway.get(gateway.authorizationTarget("p1"), [name: Self.given])
        let sent = try #require(gateway.upstream.recorder.requests.last)
        #expect(!sent.headers.fields.contains { $0.value == Self.given })
        #expect(sent.headers["X-Request-ID"]?.utf8.count == 22)
      }
      #expect(!gateway.logLines.contains { $0.contains(Self.given) })
    }
  }

  @Test("Errors outside of the endpoints have the id too, as pages and as problem details")
  func failures() async throws {
    try await GatewayFixture.run { gateway in
      let refused = try await gateway.get("/authorize/", ["Accept": "application/json"])
      let id = try #require(refused.headers["X-Request-ID"])
      #expect(JSONValue.members(of: refused.body)?["request"] == .string(id))
      #expect(gateway.logLines.last?.member("request") == id)
      try await gateway.withReplica(upstream: .dead) { replica in
        let failed = try await replica.get("/", ["X-Request-ID": Self.given, "Accept": "text/html"])
        #expect(failed.status == 503 && failed.headers["X-Request-ID"] == Self.given)
        #expect(failed.text.contains(Self.given))
      }
    }
  }

  @Test("Passing and observed messages keep their own id, unless the policy asks for the id in all messages")
  func all() async throws {
    let observing = try ObserveTests.observing()
    for isAll in [false, true] {
      var changed = FixturePolicy(observing)
      changed.gateway.requestIDs = isAll ? .all : .own
      try await GatewayFixture.run(changed.policy) { gateway in
        gateway.upstream.script { _ in Response(status: 200, headers: ["X-Request-ID": "of-the-server"]) }
        for target in ["/login", gateway.authorizationTarget("p1")] {
          for headers: Headers in [["x-request-id": "a", "X-Request-ID": "b"], [:]] {
            let answer = try await gateway.get(target, headers)
            let sent = try #require(gateway.upstream.recorder.requests.last)
            let ids = sent.headers.all("X-Request-ID")
            if isAll {
              #expect(ids.count == 1 && ids.first?.utf8.count == 22, "\(target): \(ids)")
              #expect(answer.headers.all("X-Request-ID") == ids)
            } else {
              #expect(ids == headers.fields.map(\.value), "\(target)")
              #expect(answer.headers.all("X-Request-ID") == ["of-the-server"])
            }
          }
        }
      }
    }
  }

  @Test("All lines of a sign-in have one flow, from the consent page to the refresh")
  func flow() async throws {
    try await GatewayFixture.run { gateway in
      let tokens = try await gateway.redeem(try await gateway.code("n1"), "n1")
      let token = try #require(JSONValue.members(of: tokens.body)?["refresh_token"]?.text)
      let form: Form = ["grant_type": "refresh_token", "refresh_token": token, "client_id": "n1"]
      var other = form
      other.set("client_id", "p1")
      #expect(try await gateway.post("/token", form).status == 200)
      #expect(try await gateway.post("/token", other).status == 400)
      let flows = gateway.logLines.map { $0.member("flow") }
      #expect(flows.count >= 5 && Set(flows).count == 1 && flows.first??.utf8.count == 16, "\(gateway.logLines)")
      _ = try await gateway.redeem(try await gateway.code("n1"), "n1")
      #expect(gateway.logLines.last?.member("flow") != flows.first)
    }
  }
}
