import OAuth
import Policy
import Testing
import Time

@testable import Enforcement

/// Parameters of the server's authorization response that the gateway does not know.
@Suite("Unknown parameters of a response")
struct ResponseParameterTests {
  private static let callback = "https://gw.example/.proofgate/callback"

  private func complete(
    _ answer: UpstreamAuthorizationResponse, transaction: AuthorizationTransaction = Fixture.transaction,
    listed: [String] = [], callback: CallbackMode = .inPlace, change: (inout ClientSettings) -> Void = { _ in }
  ) -> DecisionWithFindings<CompletionPermit> {
    let facts = CompletionFacts(
      browserMatches: true, requestTexts: ReflectedCodeScanner(target: ""), epoch: Fixture.epoch, now: Fixture.now)
    let policy = Fixture.policy(callback: callback, responseParameters: listed, change: change)
    return Enforcement.decideCompletion(answer, transaction: transaction, facts: facts, policy: policy)
  }

  private func complete(
    _ query: String, at address: String = callback, transaction: AuthorizationTransaction = Fixture.transaction,
    listed: [String] = []
  ) throws -> DecisionWithFindings<CompletionPermit> {
    let answer = try #require(UpstreamAuthorizationResponse(location: address + query))
    return complete(answer, transaction: transaction, listed: listed)
  }

  private func parameters(_ outcome: DecisionWithFindings<CompletionPermit>) -> [String] {
    (outcome.permit?.response(code: "w") ?? outcome.refusal?.response)?.parameters.map(\.name) ?? []
  }

  /// The names that real servers add, and spellings that no server should use.
  static let names = [
    "realmId", "authuser", "prompt", "hd", "client_info", "user_id", "location", "accounts-server", "error_subcode",
    "error_reason", "lang", "x", "state.x", "code_x", "xcode", "user[code]", "%FF", "%zz", "a%00b", "%F0%9F%98%80", "+",
    "%26code", "code%3D", "token", "access_token", "id_token", "refresh_token", "response", "redirect_uri", "client_id",
    "Scope", "iss[]", "Error_Description", "",
  ]

  @Test("I-completion: a code and an error reach the app with any additional parameter", arguments: names)
  func ignored(name: String) throws {
    for value in ["1", "%zz", "a;code=b", "https%3A%2F%2Fx.example%2F%3Fcode%3Dy", ""] {
      for query in ["code=abcdefghij&state=s&\(name)=\(value)", "\(name)=\(value)&\(name)=2&code=abcdefghij&state=s"] {
        let outcome = try complete("?" + query)
        #expect(parameters(outcome) == ["code", "state", "iss"], "\(query): \(outcome.rejection as Any)")
        #expect(outcome.findings.isEmpty)
      }
      let denied = try complete("?error=access_denied&state=s&\(name)=\(value)")
      #expect(
        denied.redirected == [
          "error": "access_denied", "error_description": "access was denied", "state": "s1",
          "iss": "https://gw.example",
        ])
    }
  }

  @Test("I-completion: a response with as many parameters as a request may have is completed")
  func many() throws {
    let others = (3...FormParameters.maximumCount).map { "&p\($0)=1" }.joined()
    #expect(try complete("?code=abcdefghij&state=s" + others).permit != nil)
    #expect(UpstreamAuthorizationResponse(location: Self.callback + "?code=a&state=s&y=1" + others) == nil)
  }

  @Test("A response at the callback may have additional parameters too")
  func atCallback() throws {
    let form = try #require(FormParameters(parsing: "code=abcdefghij&state=s&realmId=9&x=%zz"))
    let outcome = complete(
      UpstreamAuthorizationResponse(atCallback: form), listed: ["realmId", "x"], callback: .atCallback)
    #expect(parameters(outcome) == ["code", "realmId", "state", "iss"])
    #expect(outcome.findings == [.note(.responseParameterDropped)])
  }

  @Test(
    "A response in which some program finds a second code or state reaches the app as server_error",
    arguments: [
      "code=abcdefghij&state=s&Code=x", "code=abcdefghij&state=s&code[]=x", "%2563ode=x&code=abcdefghij&state=s",
      "code=abcdefghij&state=s&code%00=x", "code=abcdefghij&state=s&STATE=x", "code=abcdefghij&state=s&state[x]=y",
      "code=abcdefghij&state=s&Error=x", "error=access_denied&state=s&Code=x", "code=abcdefghij&state=s&%EF%BD%83ode=x",
      "code=abcdefghij&state=s&Code=%zz",
    ])
  func secondSpelling(query: String) throws {
    let outcome = try complete("?" + query)
    #expect(outcome.rejection == .upstreamResponseUnusable)
    #expect(outcome.redirected?["error"] == "server_error")
  }

  @Test("A semicolon in a description is no second parameter")
  func semicolon() throws {
    let outcome = try complete("?error=access_denied&error_description=no;+code=17;+state=x&state=s")
    #expect(outcome.redirected?["error"] == "access_denied")
  }

  // MARK: The address

  private func transaction(sentTo uri: String) -> AuthorizationTransaction {
    var transaction = Fixture.transaction
    transaction.upstreamRedirectURI = uri
    return transaction
  }

  @Test(
    "I-completion: the query of the redirect URI is kept, wherever the server adds its parameters",
    arguments: [
      "?tenant=1&code=abcdefghij&state=s", "?code=abcdefghij&state=s&tenant=1",
      "?x=1&tenant=1&y=2&code=abcdefghij&state=s",
    ])
  func sentQuery(query: String) throws {
    #expect(try complete(query, transaction: transaction(sentTo: Self.callback + "?tenant=1")).permit != nil)
  }

  @Test(
    "I-completion: a response whose address lacks the query that was sent, or has another one, is refused",
    arguments: [
      "?code=abcdefghij&state=s", "?tenant=2&code=abcdefghij&state=s", "?tenant=1&code=abcdefghij&state=s&tenant=2",
      "?tenant=1&tenant=1&code=abcdefghij&state=s", "?code=abcdefghij&state=s#tenant=1", "#?tenant=1&code=x",
      "?ten%61nt=1&code=abcdefghij&state=s",
    ])
  func changedQuery(query: String) throws {
    let outcome = try complete(query, transaction: transaction(sentTo: Self.callback + "?tenant=1"))
    #expect(outcome.rejection == .responseToOtherURI)
    #expect(outcome.refusal?.response == nil)
  }

  @Test("I-completion: additional parameters make no other address the redirect URI")
  func otherAddress() throws {
    for address in ["https://gw.example/", "https://evil.example/.proofgate/callback", Self.callback + "/x"] {
      #expect(try complete("?x=1&code=abcdefghij&state=s", at: address).rejection == .responseToOtherURI)
    }
  }

  @Test("I-reentry: a response to a redirect URI with a query is found in any order of its parameters")
  func carriedAnswer() {
    var transaction = Fixture.transaction
    transaction.clientID = ClientID("w1")
    transaction.upstreamClientID = ClientID("legacy-w1")
    transaction.redirectURI = Fixture.uri("https://web.example.com/cb?x=1")
    for query in ["x%3D1%26code%3Da", "code%3Da%26x%3D1", "y%3D2%26code%3Da"] {
      let request = AuthorizationRequest(
        method: "GET", query: "state=sealed&next=https%3A%2F%2Fweb.example.com%2Fcb%3F\(query)"[...])
      let outcome = Enforcement.decideReentry(
        request, sealedState: "sealed", transaction: transaction, browserMatches: true, policy: Fixture.policy(),
        now: Fixture.now)
      #expect(outcome.rejection == .codeReflectedFromRequest, "\(query)")
    }
  }

  // MARK: Listed parameters

  @Test("The app gets the listed parameters with a code and with an error, in the order of the policy")
  func listed() throws {
    let listed = ["realmId", "accounts-server", "prompt", "absent"]
    let query = "&prompt=none&x=1&accounts-server=https%3A%2F%2Fa.example%2F%3Fb%26c&realmId=%E2%82%AC+1"
    let permit = try #require(complete("?code=abcdefghij&state=s&scope=read" + query, listed: listed).permit)
    #expect(
      permit.response(code: "w").location
        == "com.example.app:/cb?code=w&scope=read&realmId=%E2%82%AC%201"
        + "&accounts-server=https%3A%2F%2Fa.example%2F%3Fb%26c&prompt=none&state=s1&iss=https%3A%2F%2Fgw.example")
    let denied = try complete("?error=access_denied&state=s" + query, listed: listed)
    #expect(denied.redirected?["realmId"] == "\u{20ac} 1" && denied.redirected?["prompt"] == "none")
    #expect(denied.redirected?["x"] == nil && denied.findings.isEmpty)
    // An error that the gateway reports itself has none of them.
    let unusable = try complete("?code=a&error=b&state=s" + query, listed: listed)
    #expect(parameters(unusable) == ["error", "error_description", "error_uri", "state", "iss"])
  }

  @Test(
    "A listed parameter with two values, without a readable one, or with a long one is dropped",
    arguments: [
      "realmId=1&realmId=1", "realmId=1&realmId=2", "realmId=1&realm%49d=2", "realmId=%zz", "realmId=%FF",
      "realmId=a%0d%0ab", "realmId=" + String(repeating: "x", count: 513),
    ])
  func dropped(query: String) throws {
    let outcome = try complete("?code=abcdefghij&state=s&" + query, listed: ["realmId"])
    #expect(parameters(outcome) == ["code", "state", "iss"])
    #expect(outcome.findings == [.note(.responseParameterDropped)])
  }

  @Test("A listed parameter without a value is absent, and one of 512 bytes is passed on")
  func bounds() throws {
    let empty = try complete("?code=abcdefghij&state=s&realmId=", listed: ["realmId"])
    #expect(parameters(empty) == ["code", "state", "iss"] && empty.findings.isEmpty)
    let long = String(repeating: "x", count: 512)
    let permit = try #require(complete("?code=abcdefghij&state=s&realmId=\(long)", listed: ["realmId"]).permit)
    #expect(permit.response(code: "w").parameters.contains { $0.name == "realmId" && $0.value == long })
  }

  @Test("A listed parameter that is also in the query of a redirect URI is dropped")
  func namesOfRedirectURI() throws {
    var transaction = Fixture.transaction
    transaction.clientID = ClientID("w1")
    transaction.upstreamClientID = ClientID("legacy-w1")
    transaction.redirectURI = Fixture.uri("https://web.example.com/cb?x=1")
    transaction.upstreamRedirectURI = Self.callback + "?tenant=1&empty="
    let outcome = try complete(
      "?tenant=1&empty=&code=abcdefghij&state=s&x=2&z=3", transaction: transaction,
      listed: ["x", "tenant", "empty", "z"])
    #expect(
      outcome.permit?.response(code: "w").location?.hasPrefix("https://web.example.com/cb?x=1&code=w&z=3&state=")
        == true)
    #expect(outcome.findings == [.note(.responseParameterDropped)])
  }

  // MARK: Observation

  @Test("I-observe: the response to an observed request is found with any additional parameters")
  func observed() throws {
    let request = AuthorizationRequest(
      method: "GET", query: "client_id=n1&state=s9&redirect_uri=https%3A%2F%2Fa.example%2Fcb%3Ft%3D1")
    let link = try #require(ObservedFlow.linkDigest(of: request, client: nil))
    for query in ["t=1&code=c&state=s9", "code=c&state=s9&t=1&realmId=7#_", "x=1&code=c&state=s9"] {
      let answer = try #require(UpstreamAuthorizationResponse(location: "https://a.example/cb?" + query))
      #expect(ObservedFlow.digests(of: answer)?.link == link, "\(query)")
    }
    for location in ["https://a.example/cb2?code=c&state=s9", "https://a.example/cb?code=c&state=s8"] {
      let answer = try #require(UpstreamAuthorizationResponse(location: location))
      #expect(ObservedFlow.digests(of: answer)?.link != link, "\(location)")
    }
  }
}
