import Enforcement
import OAuth
import Policy
import Testing

@testable import Evaluation

@Suite("Evaluation of a request")
struct EvaluatorTests {
  @Test("A permitted authorization request shows every rule, and the upstream request with the upstream's client id")
  func permitted() throws {
    let evaluation = try Sample.evaluator().evaluate(Sample.authorize())
    #expect(evaluation.summary == "forward")
    #expect(evaluation.steps.count > 20)
    let upstream = try #require(evaluation.upstream)
    #expect(upstream.request == "GET http://127.0.0.1:9000/authorize")
    #expect(upstream.parameters.contains(UpstreamPreview.Parameter(name: "client_id", value: "legacy")))
    #expect(upstream.parameters.contains(UpstreamPreview.Parameter(name: "state", value: "(sealed by the gateway)")))
    #expect(!upstream.parameters.contains { $0.name == "code_challenge" })
  }

  @Test("A refusal names the rule, its section and the way of delivery, and is the last step")
  func refused() throws {
    let evaluation = try Sample.evaluator().evaluate(Sample.authorize([(.codeChallenge, nil)]))
    #expect(evaluation.summary == "reject pkce-required (by redirect)")
    #expect(evaluation.upstream == nil)
    #expect(evaluation.text.contains("refuse "))
    #expect(evaluation.text.contains("RFC 7636, section 4.4.1; pkce-required"))
    #expect(evaluation.text.contains("manual: proofgate rules pkce-required\n"))
  }

  @Test("An unknown client id gets the similar id of the policy as a suggestion")
  func similarClient() throws {
    let evaluation = try Sample.evaluator().evaluate(Sample.authorize([(.clientID, "aap")]))
    #expect(evaluation.summary.hasPrefix("reject client-unknown"))
    #expect(evaluation.notes == ["did you mean the client `app`?"])
    #expect(try Sample.evaluator().evaluate(Sample.authorize([(.clientID, "elsewhere")])).notes.isEmpty)
  }

  @Test("In observe mode, all rules run, and a refusal is only what enforce mode would do")
  func observed() throws {
    let evaluation = try Sample.evaluator(mode: .observe).evaluate(
      Sample.authorize([(.codeChallenge, nil), (.responseType, "token")]))
    #expect(evaluation.summary == "would_reject response-type-for-native")
    #expect(evaluation.findingNames.contains("would-reject:pkce-required"))
    #expect(evaluation.text.contains("would refuse"))
    #expect(evaluation.text.contains("the request as the client sent it"))
    #expect(try Sample.evaluator(mode: .observe).evaluate(Sample.authorize()).decision == .forward)
  }

  @Test("A form of the server belongs to the single client that its query or its body names, as in the gateway")
  func formOfObservedClient() throws {
    let evaluator = try Sample.evaluator([
      Sample.app(),
      Sample.app {
        $0.id = ClientID("old")
        $0.enforcement.mode = .observe
      },
    ])
    func evaluate(_ query: String, _ body: String) throws -> Evaluation {
      let fields = "Host: id.example.com\nContent-Type: application/x-www-form-urlencoded\n"
      return evaluator.evaluate(try TriedRequest(parsing: "POST /authorize?\(query) HTTP/1.1\n\(fields)\n\(body)"))
    }
    for (query, body) in [("client_id=old&state=s", "username=a"), ("client_id=old", "client_id=old&confirm=yes")] {
      let evaluation = try evaluate(query, body)
      #expect(evaluation.mode == .observe && evaluation.client == "old")
      #expect(evaluation.summary == "would_reject parameters-split")
    }
    for (query, body) in [("client_id=old&state=s", "client_id=app"), ("client_id=app&state=s", "username=a")] {
      #expect(try evaluate(query, body).summary.hasPrefix("reject parameters-split"))
    }
  }

  @Test("The comparison of a loopback redirect URI leaves out the port and marks the first byte that differs")
  func loopback() throws {
    let request = Sample.authorize([(.redirectURI, "http://127.0.0.1:5000/callbackk")])
    let redirect = try #require(try Sample.evaluator().evaluate(request).redirect)
    #expect(redirect.requested == "http://127.0.0.1/callbackk" && redirect.registered == "http://127.0.0.1/callback")
    #expect(redirect.number == 2 && redirect.offset == 25 && redirect.omitsPort)
    #expect(redirect.lines[2].firstIndex(of: "^") == redirect.lines[0].lastIndex(of: "k"))
  }

  @Test("The comparison of any other redirect URI shows both in full")
  func privateUse() throws {
    let request = Sample.authorize([(.redirectURI, "com.example.app:/CB")])
    let redirect = try #require(try Sample.evaluator().evaluate(request).redirect)
    #expect(redirect.registered == "com.example.app:/cb" && redirect.number == 1 && redirect.offset == 17)
    #expect(!redirect.omitsPort)
    #expect(try Sample.evaluator().evaluate(Sample.authorize()).redirect == nil)
  }

  @Test("A redemption is decided with a code that fits the request, and its verifier is required")
  func redemption() throws {
    let evaluator = try Sample.evaluator()
    let permitted = evaluator.evaluate(Sample.token())
    #expect(permitted.summary == "forward")
    #expect(permitted.upstream?.authentication == "Basic, client id `legacy`, secret ***")
    #expect(evaluator.evaluate(Sample.token([(.codeVerifier, nil)])).summary == "reject pkce-verifier-required")
    #expect(evaluator.evaluate(Sample.token([(.codeVerifier, "short")])).decision == .reject)
    let other = Sample.token([(.redirectURI, "com.example.app:/other")])
    #expect(evaluator.evaluate(other).summary == "reject code-redirect-uri")
    let refresh = Sample.token([(.grantType, "refresh_token"), (.refreshToken, "r"), (.code, nil)])
    #expect(evaluator.evaluate(refresh).summary == "forward")
  }

  @Test("No report contains a secret, a code, a verifier or the client's state")
  func secrets() throws {
    let evaluator = try Sample.evaluator()
    let requests = [
      Sample.authorize([(.loginHint, "alice@example.com")]), Sample.token(),
      Sample.token([(.grantType, "refresh_token"), (.refreshToken, "client-refresh"), (.code, nil)]),
    ]
    for request in requests {
      let text = evaluator.evaluate(request).text
      for secret in [
        "held-secret", "code-of-the-client", Sample.verifier, "client-state", "client-refresh", "alice",
      ] { #expect(!text.contains(secret), "\(secret)") }
    }
  }

  @Test("Every client secret counts as right, except `wrong`")
  func assumedSecrets() throws {
    let evaluator = try Sample.evaluator()
    func outcome(_ secret: String?) -> String {
      let request = Sample.token([
        (.clientID, "web"), (.clientSecret, secret), (.redirectURI, "https://web.example.com/cb"),
      ])
      return evaluator.evaluate(request).summary
    }
    // The secret is that of the gateway, and the policy has none for the server.
    #expect(outcome("anything") == "forward (without the client's credentials)")
    #expect(outcome("wrong") == "reject client-authentication-failed")
    #expect(outcome(nil) == "reject client-unauthenticated")
    let basic = try TriedRequest(
      parsing:
        "curl /token -u web:x -d grant_type=authorization_code -d code=c -d redirect_uri=https://web.example.com/cb")
    #expect(evaluator.evaluate(basic).decision == .forward)
  }

  @Test("A request for another host, a path that resembles an endpoint and a hidden OAuth request are refused")
  func paths() throws {
    let evaluator = try Sample.evaluator()
    func summary(_ text: String) throws -> String { evaluator.evaluate(try TriedRequest(parsing: text)).summary }
    #expect(try summary("https://other.example/authorize") == "reject host-unknown")
    #expect(try summary("https://ID.example.com:443/x") == "pass")
    #expect(try summary("/token/info") == "reject path-resembles-endpoint")
    #expect(try summary("/other?client_id=a&response_type=code") == "reject unlisted-oauth")
    #expect(try summary("curl /other -d grant_type=x") == "reject unlisted-oauth")
    #expect(
      try summary(#"curl /other -H 'Content-Type: application/json' -d '{"grant_type":"x"}'"#)
        == "reject unlisted-oauth")
    #expect(try summary("curl /other -X PUT -d grant_type=x") == "reject unlisted-oauth")
    #expect(try summary("/.proofgate/consent").hasPrefix("undetermined "))
  }
}
