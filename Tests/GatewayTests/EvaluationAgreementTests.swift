import Enforcement
import Evaluation
import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

@testable import Gateway

@Suite("Evaluation and gateway")
struct EvaluationAgreementTests {
  /// Changes of the authorization request of client `n1`.
  private static let authorization: [[String: String?]] = [
    [:], ["code_challenge": nil], ["code_challenge_method": "plain"], ["redirect_uri": "com.example.app:/other"],
    ["redirect_uri": "http://127.0.0.1:5000/cb"], ["redirect_uri": "http://localhost/cb"], ["redirect_uri": nil],
    ["client_id": "unknown"], ["client_id": nil], ["response_type": "token"], ["response_mode": "form_post"],
    ["prompt": "none login"], ["request": "x"], ["state": nil], ["scope": "a\"b"],
  ]

  private static let tokens = [
    "grant_type=password&client_id=n1&username=a&password=b", "grant_type=client_credentials&client_id=n1",
    "grant_type=refresh_token&client_id=n1", "grant_type=authorization_code&client_id=unknown&code=x",
    "grant_type=nothing&client_id=n1", "client_id=n1", "grant_type=authorization_code", "",
  ]

  @Test("An evaluation gives the same decision and rule as the log of a gateway with the same policy")
  func agreement() async throws {
    try await GatewayFixture.run { gateway in
      let evaluator = Evaluator(gateway.policy)
      var requests: [TriedRequest] = []
      for changes in Self.authorization {
        let target = gateway.authorizationTarget("n1") { form in
          for (name, value) in changes {
            form.remove(name)
            if let value { form.append(name, value) }
          }
        }
        requests.append(try TriedRequest(parsing: target))
      }
      for body in Self.tokens {
        requests.append(
          TriedRequest(
            method: "POST", path: "/token",
            fields: [TriedRequest.Field("Content-Type", "application/x-www-form-urlencoded")], body: Array(body.utf8)))
      }
      for target in ["/token/info", "/x?client_id=n1&response_type=code", "/.proofgate/other"] {
        requests.append(try TriedRequest(parsing: target))
      }
      for tried in requests {
        var request = Request(method: tried.method, target: tried.path + (tried.query.map { "?" + $0 } ?? ""))
        for field in tried.fields { request.headers.append(field.name, field.value) }
        request.body = tried.body
        _ = try await gateway.send(request)
        let line = try #require(gateway.logLines.last)
        let evaluation = evaluator.evaluate(tried)
        let rule = evaluation.rejection.map { "\"rule\":\"\($0.ruleID)\"" }
        #expect(line.contains("\"decision\":\"\(evaluation.decision.rawValue)\""), "\(request.target): \(line)")
        #expect(rule.map(line.contains) ?? !line.contains("\"rule\":\""), "\(evaluation.summary): \(line)")
      }
    }
  }
}
