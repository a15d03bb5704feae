import ByteText
import FoundationEssentials
import OAuth
import Policy
import Testing
import Time

@testable import Enforcement

@Suite("Re-entry and completion")
struct CompletionTests {
  static let callback = "https://gw.example/.proofgate/callback"

  private func complete(
    _ location: String, transaction: AuthorizationTransaction = Fixture.transaction, browser: Bool = true,
    request: String = "", now: UnixTime = Fixture.now, policy: Policy = Fixture.policy()
  ) throws -> DecisionWithFindings<CompletionPermit> {
    let answer = try #require(UpstreamAuthorizationResponse(location: location))
    let facts = CompletionFacts(
      browserMatches: browser, requestTexts: ReflectedCodeScanner(target: request), epoch: Fixture.epoch, now: now)
    return Enforcement.decideCompletion(answer, transaction: transaction, facts: facts, policy: policy)
  }

  @Test("I-completion, 9207-2-success: a code is answered with a sealed code, the client's state and the gateway's iss")
  func success() throws {
    let permit = try #require(
      complete(Self.callback + "?code=abcdefghij&state=sealed&iss=https%3A%2F%2Flegacy.internal").permit)
    #expect(permit.code.upstreamCode.reveal() == "abcdefghij")
    #expect(permit.code.expiry == Fixture.now + 60)
    #expect(permit.code.epoch == Fixture.epoch)
    #expect(permit.code.challenge == Fixture.transaction.challenge)
    #expect(
      permit.response(code: "wrapped").location
        == "com.example.app:/cb?code=wrapped&state=s1&iss=https%3A%2F%2Fgw.example")
  }

  @Test("Response parameters that the specifications name are passed on with the code")
  func extra() throws {
    let permit = try #require(
      complete(Self.callback + "?%63ode=abcdefghij&state=sealed&session_state=a.b&scope=read").permit)
    #expect(
      permit.response(code: "wrapped").location
        == "com.example.app:/cb?code=wrapped&session_state=a.b&scope=read&state=s1&iss=https%3A%2F%2Fgw.example")
  }

  @Test("6749-3.1.2-append: the query of a redirect URI is kept")
  func keptQuery() throws {
    var transaction = Fixture.transaction
    transaction.clientID = ClientID("w1")
    transaction.upstreamClientID = ClientID("legacy-w1")
    transaction.redirectURI = Fixture.uri("https://web.example.com/cb?x=1")
    let permit = try #require(complete(Self.callback + "?code=abcdefghij&state=s", transaction: transaction).permit)
    #expect(permit.response(code: "w").location?.hasPrefix("https://web.example.com/cb?x=1&code=w&") == true)
  }

  @Test(
    "I-completion: a response to any other address is refused",
    arguments: [
      "https://gw.example/.proofgate/callback/?code=abcdefghij&state=s",
      "https://GW.example/.proofgate/callback?code=abcdefghij&state=s",
      "https://gw.example/.proofgate/callback&x=1?code=abcdefghij&state=s",
      "https://gw.example/.proofgate/callback;x=1?code=abcdefghij&state=s",
      "http://gw.example/.proofgate/callback?code=abcdefghij&state=s", "//gw.example/?code=abcdefghij&state=s",
    ])
  func elsewhere(location: String) throws {
    let outcome = try complete(location)
    #expect(outcome.rejection == .responseToOtherURI)
    #expect(outcome.refusal?.response == nil)
  }

  @Test("I-completion: a code that the request already contained is refused")
  func echoed() throws {
    let location = Self.callback + "?code=abcdefghij&state=s"
    #expect(try complete(location, request: "next=x%26code%3Dabcdefghij").rejection == .codeReflectedFromRequest)
    #expect(try complete(location, request: "next=other").permit != nil)
  }

  @Test(
    "I-completion: a code is found in the request under every decoding that a server may apply",
    arguments: [
      "code=4/0A+b==cd", "code=4%2F0A%2Bb%3D%3Dcd", "x=4/0A%20b==cd&y=%zz", "x=%ff4/0A+b==cd", "x=%4/0A+b==cd",
      "x=%2f%3fcode%3d4%252F0A%252Bb%253D%253Dcd", "x=%25252Fa4%25252F0A%25252Bb%25253D%25253Dcd", "4/0A+b==cd",
      "x=4%2525252525252F0A%2525252525252Bb%2525252525253D%3Dcd", "x=%%334/0A+b%3%44=cd",
    ])
  func echoedInDisguise(request: String) throws {
    let location = Self.callback + "?code=4%2F0A%2Bb%3D%3Dcd&state=s"
    #expect(try complete(location, request: request).rejection == .codeReflectedFromRequest)
  }

  @Test("I-completion: a code that is itself percent-encoded is found, in cookies too")
  func echoedEscaped() throws {
    let location = Self.callback + "?code=abcd%252565fghij&state=s"
    #expect(try complete(location, request: "/a?x=abcd%65fghij").rejection == .codeReflectedFromRequest)
    #expect(try complete(location, request: "/a?x=abcdefghij").rejection == .codeReflectedFromRequest)
    let content = ReflectedCodeScanner(target: "/authorize", fields: ["a=b", "next=%2Fx%3Fcode%3Dabcdefghij"])
    #expect(content.contains(code: "abcdefghij"))
    #expect(!content.contains(code: "abcdefghik"))
  }

  @Test(
    "I-completion: a code of unreserved characters is found between escapes and inside escapes",
    arguments: [
      "/a?x=abc-ef_h", "/a?x=%2F%3Fcode%3Dabc-ef_h%26", "/a?x=%2abc-ef_h", "/a?x=abc%2Def_h", "/a?x=abc%252def_h",
      "/a?x=%2Fabc-%65f_h%20", "/a?x=%2Fabc-e%%36%36_h", "/a?x=abc-ef_h%", "/a?x=%zzabc-ef_h",
      "/a?x=%41bc-ef_h%61bc-ef_h",
    ])
  func echoedUnreserved(target: String) {
    #expect(ReflectedCodeScanner(target: target).contains(code: "abc-ef_h"))
    #expect(!ReflectedCodeScanner(target: target).contains(code: "abc-ef_i"))
  }

  @Test(
    "A code is not found if other letters interrupt it, or a part is missing",
    arguments: ["/a?x=abc%2Fef_h", "/a?x=abc-%2eef_h", "/a?x=abc-e%3D%66_", "/a?x=abc-e%66x_h", "/a?x=abc-e&y=f_h"])
  func notEchoed(target: String) {
    #expect(!ReflectedCodeScanner(target: target).contains(code: "abc-ef_h"))
  }

  @Test("I-completion: a code of each length is found in base64 at each place, between bytes of each kind")
  func lengthsInBase64() {
    let letters = Array("aZ09-_~.bYx81Qk".utf8)
    for length in 5...48 {
      let code = (0..<length).map { letters[$0 * 7 % letters.count] }
      for front in 0...6 {
        for around in [0x00, 0x3d, 0x7f, 0xff] as [UInt8] {
          let bytes = [UInt8](repeating: around, count: front) + code + [UInt8](repeating: around, count: length % 4)
          for shift in 0...3 {
            // The digits in front belong to another value.
            let text = String(repeating: "f", count: shift) + Data(bytes).base64EncodedString()
            let scanner = ReflectedCodeScanner(target: "/", fields: [text])
            let isFound = scanner.contains(code: String(decoding: code, as: UTF8.self))
            #expect(isFound, "\(length) \(front) \(around) \(shift)")
          }
        }
      }
    }
  }

  @Test("I-completion: a code is found in base64 from each position, with other characters between its digits")
  func echoedInBase64() {
    let code = "aZ09-_~.code"
    for front in ["", "a", "ab", "abc", "https://gw.example/cb?code="] {
      for back in ["", "&", "&s", "&state=x"] {
        let base64 = Data((front + code + back).utf8).base64EncodedString()
        for text in [
          base64, String(base64.prefix { $0 != "=" }), "next=" + base64 + "&a=b",
          base64.map { "\($0)" }.joined(separator: "!"),
          base64.replacing("/", with: "_").replacing("+", with: "-"), base64.replacing("=", with: "%3D"),
        ] {
          #expect(ReflectedCodeScanner(target: "/a", fields: ["b", text]).contains(code: code), "\(text)")
          #expect(!ReflectedCodeScanner(target: "/a", fields: ["b", text]).contains(code: "aZ09-_~.codf"))
        }
      }
    }
    // Base64 in several parts of the request together is no code.
    #expect(!ReflectedCodeScanner(target: "/YVowOS", fields: ["1ffi5jb2Rl"]).contains(code: code))
    // Four bytes occur by chance.
    #expect(!ReflectedCodeScanner(target: "/", fields: ["YWJjZA=="]).contains(code: "abcd"))
  }

  @Test("A code that nearly repeats itself is found at each position")
  func repeating() {
    for code in ["aaaaaaab", "abababac", "aabaabaaab", "abcabcabd"] {
      for front in ["", "a", "aa", "ab", "aaaaaaa", "abab", "aab", "abcabc", String(code.dropLast())] {
        #expect(ReflectedCodeScanner(target: "/" + front + code).contains(code: code), "\(front) \(code)")
        #expect(!ReflectedCodeScanner(target: "/" + front + code.dropLast()).contains(code: code), "\(front) \(code)")
      }
    }
  }

  @Test(
    "A code is found between characters that libraries remove from an address",
    arguments: [
      "\t", "\r\n", " ", "\u{e9}", "<", "\"", "%09", "%0d%0a", "%20", "%C3%A9", "%2509", "%25250a", "%3c", "\t\t%09",
    ])
  func removed(separator: String) {
    let code = "Kx7abcdef0"
    for position in 1..<code.count {
      let text = "\(code.prefix(position))\(separator)\(code.dropFirst(position))"
      for target in ["/login?next=\(text)", "/login?next=K\(text)&state=x", "/a?Kx7a\(separator)\(text)"] {
        #expect(ReflectedCodeScanner(target: target).contains(code: code), "\(target)")
        #expect(!ReflectedCodeScanner(target: target).contains(code: "Kx7abcdef1"), "\(target)")
      }
    }
    let apart = code.map { String($0) }.joined(separator: separator)
    #expect(ReflectedCodeScanner(target: "/?\(apart)").contains(code: code))
    // A short code could occur by chance.
    #expect(!ReflectedCodeScanner(target: "/?ab\(separator)cd").contains(code: "abcd"))
    let response = "next=http://h/cb?co\(separator)de=x"
    #expect(ReflectedCodeScanner(target: response).containsResponse(to: ["http://h/cb"]))
  }

  @Test("A text that base64 may mean is never missed by the quick look at some digits")
  func quickLook() {
    var random = SystemRandomNumberGenerator()
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for count in [12, 16, 20, 24, 32, 43, 64, 120] {
      for _ in 0..<40 {
        let code = (0..<count).map { _ in UInt8.random(in: 0x21...0x7e, using: &random) }
        let before = (0..<Int.random(in: 0..<90, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        var text: [UInt8] = []
        for character in Base64.encode(before + code).utf8 {
          text.append(character)
          // Servers ignore other characters, and the digits that are not unreserved may be escaped.
          switch Int.random(in: 0..<40, using: &random) {
          case 0: text += Array("!!~".utf8.prefix(Int.random(in: 0...3, using: &random)))
          case 1: text += Array("%3D".utf8)
          default: break
          }
        }
        text = text.flatMap {
          $0 == UInt8(ascii: "/") ? Array("%2F".utf8) : $0 == UInt8(ascii: "+") ? Array("%2b".utf8) : [$0]
        }
        text =
          (0..<Int.random(in: 0..<200, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0x41 }
          + text
        let mayHave = Base64Readings.mayHaveVisibleText(in: text.span, ofAtLeast: count)
        #expect(mayHave, "\(count) \(text)")
      }
    }
    for byte in [UInt8(ascii: "A"), UInt8(ascii: "!")] {
      let text = [UInt8](repeating: byte, count: 4_000)
      let mayHave = Base64Readings.mayHaveVisibleText(in: text.span, ofAtLeast: 43)
      #expect(!mayHave)
    }
  }

  @Test(
    "I-completion: a request that contains a redirect URI together with a code is refused",
    arguments: [
      "next=https%3A%2F%2Fgw.example%2F.proofgate%2Fcallback%3Fcode%3Dx%26state%3Dy",
      "next=/.proofgate/callback?code=x", "next=%252F.Proofgate%252Fcallback%253Fstate%253Dy%2526c%256Fde%253Dx",
      "/.proofgate/callback?code=x", "next=%FF/.proofgate/callback?code=x",
    ])
  func carriedAnswer(field: String) {
    #expect(reenter("state=sealed&" + field) == .codeReflectedFromRequest)
    #expect(reenter(Self.sent, body: field) == .codeReflectedFromRequest)
    let request = AuthorizationRequest(
      method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], body: Array(field.utf8))
    let decision = Enforcement.decideForm(request, hasRunningTransaction: true, policy: Fixture.policy())
    guard case .reject(let refusal) = decision else {
      Issue.record("a refusal was expected")
      return
    }
    #expect(refusal.rejection == .codeReflectedFromRequest)
  }

  @Test("A redirect URI without a code, and a code without a redirect URI, are not refused")
  func noAnswer() {
    #expect(reenter(Self.sent, body: "code=123456") == nil)
    #expect(
      reenter(Self.sent, body: "next=%2Fauthorize%3Fredirect_uri%3Dcom.example.app%3A%2Fcb%26user_code%3D1") == nil)
    #expect(reenter(Self.sent, body: "next=com.example.app%3A%2Fcb%3Fcode%3D1") == .codeReflectedFromRequest)
  }

  @Test("I-completion: a short code counts as sent only if it is delimited on both sides")
  func shortCode() throws {
    let location = Self.callback + "?code=ab1&state=s"
    for request in ["code=ab1", "x=a%26code%3Dab1", "x=y&ab1"] {
      #expect(try complete(location, request: request).rejection == .codeReflectedFromRequest)
    }
    for request in ["state=xab1y", "x=ab12", "x=_ab1", ""] {
      #expect(try complete(location, request: request).permit != nil)
    }
  }

  @Test("I-browser: a response in another browser gets a page, never a redirect")
  func otherBrowser() throws {
    let outcome = try complete(Self.callback + "?code=abcdefghij&state=s", browser: false)
    #expect(outcome.rejection == .browserMismatch)
    #expect(outcome.isPage)
  }

  @Test("I-completion: a completion checks the transaction against the current policy and time")
  func outdated() throws {
    let location = Self.callback + "?code=abcdefghij&state=s"
    #expect(try complete(location, now: Fixture.transaction.expiry).rejection == .transactionExpired)
    let unregistered = Fixture.policy { $0.redirectURIs = [] }
    #expect(try complete(location, policy: unregistered).rejection == .transactionNoLongerValid)
    let renamed = Fixture.policy { $0.upstream.clientID = ClientID("other") }
    #expect(try complete(location, policy: renamed).rejection == .transactionNoLongerValid)
    var foreign = Fixture.transaction
    foreign.redirectURI = Fixture.uri("https://evil.example/")
    #expect(try complete(location, transaction: foreign).rejection == .transactionNoLongerValid)
  }

  @Test("A response mode that is no longer enabled falls back to the query")
  func modeFallsBack() throws {
    var transaction = Fixture.transaction
    transaction.responseMode = .fragment
    let location = Self.callback + "?code=abcdefghij&state=s"
    let permit = try #require(complete(location, transaction: transaction).permit)
    #expect(permit.response(code: "w").mode == .query)
    let allowed = Fixture.policy { $0.responseModes = [.query, .fragment] }
    let fragment = try #require(complete(location, transaction: transaction, policy: allowed).permit)
    #expect(fragment.response(code: "w").location?.hasPrefix("com.example.app:/cb#code=w") == true)
  }

  @Test("form_post is completed with a page that posts the parameters")
  func formPost() throws {
    var transaction = Fixture.transaction
    transaction.redirectURI = Fixture.uri("https://app.example.com/cb")
    transaction.responseMode = .formPost
    let policy = Fixture.policy { $0.responseModes = [.query, .formPost] }
    let permit = try #require(
      complete(Self.callback + "?code=abcdefghij&state=s", transaction: transaction, policy: policy).permit)
    let response = permit.response(code: "w")
    #expect(response.location == nil)
    #expect(response.parameters.map(\.name) == ["code", "state", "iss"])
  }

  @Test(
    "6749-4.1.2.1-private-scheme, 6749-4.1.2.1-charset: errors reach the app with its state and a clean description")
  func upstreamError() throws {
    let outcome = try complete(
      Self.callback + "?error=access_denied&error_description=%22no%5C%C3%BC&error_uri=x&state=s&iss=evil")
    #expect(outcome.rejection == .upstreamDenied)
    #expect(
      outcome.redirected
        == ["error": "access_denied", "error_description": "?no??", "state": "s1", "iss": "https://gw.example"])
  }

  @Test(
    "An error code that no specification names is mapped to one that is",
    arguments: [
      ("user_cancelled_login", "access_denied"), ("invalid_code", "server_error"), ("login_required", "login_required"),
      ("<script>", "server_error"), ("invalid_scope", "invalid_scope"),
    ])
  func mappedErrors(upstream: String, mapped: String) throws {
    let outcome = try complete(Self.callback + "?error=\(FormEncoding.encode(upstream))&state=s")
    #expect(outcome.redirected?["error"] == mapped)
  }

  @Test("An error without a state completes in place, a code without a state does not")
  func withoutState() throws {
    #expect(try complete(Self.callback + "?error=invalid_request").redirected?["error"] == "invalid_request")
    let code = try complete(Self.callback + "?code=abcdefghij")
    #expect(code.rejection == .upstreamResponseUnusable)
    #expect(code.isPage)
  }

  @Test(
    "A response with neither code nor error, with both, or with two codes reaches the app as server_error",
    arguments: ["state=s", "code=abcdefghij&error=x&state=s", "code=abcdefghij&code=b&state=s", "code=%FF&state=s"])
  func unusable(query: String) throws {
    let outcome = try complete(Self.callback + "?" + query)
    #expect(outcome.rejection == .upstreamResponseUnusable)
    #expect(outcome.redirected?["error"] == "server_error")
  }

  @Test("9700-4.11.2-untrusted-errors: an error for a client that registered itself is a page with a link")
  func untrusted() throws {
    var transaction = Fixture.transaction
    transaction.clientID = ClientID("d1")
    transaction.upstreamClientID = ClientID("legacy-d1")
    transaction.redirectURI = Fixture.uri("https://dyn.example.net/cb")
    let outcome = try complete(Self.callback + "?error=access_denied&state=s", transaction: transaction)
    guard case .pageWithLink = outcome.refusal?.delivery else {
      Issue.record("a link was expected")
      return
    }
    #expect(try complete(Self.callback + "?code=abcdefghij&state=s", transaction: transaction).permit != nil)
  }

  @Test("rm-upstream-query: the callback accepts responses over the network only if the policy enables it")
  func networkCallback() throws {
    let answer = UpstreamAuthorizationResponse(
      atCallback: try #require(FormParameters(parsing: "code=abcdefghij&state=s")))
    func decide(_ answer: UpstreamAuthorizationResponse, _ mode: CallbackMode) -> DecisionWithFindings<CompletionPermit>
    {
      Enforcement.decideCompletion(
        answer, transaction: Fixture.transaction,
        facts: CompletionFacts(
          browserMatches: true, requestTexts: ReflectedCodeScanner(target: ""), epoch: Fixture.epoch, now: Fixture.now),
        policy: Fixture.policy(callback: mode))
    }
    #expect(decide(answer, .inPlace).rejection == .callbackClosed)
    #expect(decide(answer, .atCallback).permit != nil)
    let stateless = UpstreamAuthorizationResponse(
      atCallback: try #require(FormParameters(parsing: "error=access_denied")))
    #expect(decide(stateless, .atCallback).rejection == .upstreamResponseUnusable)
  }

  private func reenter(
    _ query: String, body: String? = nil, browser: Bool = true, now: UnixTime = Fixture.now,
    contentType: String = "application/x-www-form-urlencoded", policy: Policy = Fixture.policy(),
    transaction: AuthorizationTransaction = Fixture.transaction
  ) -> Rejection? {
    let request = AuthorizationRequest(
      method: body == nil ? "GET" : "POST", query: query[...], contentTypes: body == nil ? [] : [contentType],
      body: Array((body ?? "").utf8))
    return Enforcement.decideReentry(
      request, sealedState: "sealed", transaction: transaction, browserMatches: browser, policy: policy, now: now
    ).rejection
  }

  private static let sent =
    "client_id=legacy-n1&redirect_uri=https%3A%2F%2Fgw.example%2F.proofgate%2Fcallback&response_type=code&state=sealed"
    + "&scope=read+write"

  @Test("I-reentry: the upstream's parameters may come back, together with the fields of the login form")
  func reentry() {
    #expect(reenter(Self.sent) == nil)
    #expect(reenter("state=sealed&scope=read") == nil)
    #expect(reenter(Self.sent, body: "username=u&password=%FF&csrf=x&confirm=yes") == nil)
    #expect(reenter("", body: Self.sent + "&scope=read+write&response_mode=query") == nil)
    #expect(reenter(Self.sent, body: Self.sent) == nil)
    #expect(reenter(Self.sent, body: "scope=read++write+") == nil)
  }

  @Test(
    "I-reentry: a form or query that differs from the parameters sent upstream is refused",
    arguments: [
      "client_id=n2", "client_id=n1", "redirect_uri=https%3A%2F%2Fevil.example", "response_type=token",
      "response_mode=fragment", "state=other", "request=x", "request_uri=x", "registration=x", "code_challenge=x",
      "client_id[]=x", "a=b;redirect_uri=c", "Redirect_Uri=x", "redirect_uri=%FF", "%FF=x", "scope=admin", "scope=%22",
      "red%C4%B1rect_uri=x", "%C5%BFtate=x", "client_%C4%B1d=x", "%EF%BD%92edirect_uri=x", "re%CC%81direct_uri=x",
    ])
  func reentryChanged(addition: String) {
    #expect(reenter("state=sealed&" + addition) != nil)
    #expect(reenter(Self.sent, body: addition) != nil)
  }

  @Test(
    "I-reentry: a parameter without a value counts as omitted",
    arguments: [
      "client_id=", "redirect_uri=", "response_type=", "response_mode=", "scope=", "state=", "code_challenge=",
      "code_challenge_method=", "request=", "request_uri=", "registration=",
    ])
  func reentryEmpty(addition: String) {
    #expect(reenter(Self.sent + "&" + addition) == nil)
    #expect(reenter(Self.sent, body: addition) == nil)
  }

  @Test("I-reentry: if the app requested no scope, the form may contain the server's default")
  func reentryDefaultScope() {
    var transaction = Fixture.transaction
    transaction.scope = nil
    let request = AuthorizationRequest(method: "GET", query: "state=sealed&scope=profile,email%20x")
    let outcome = Enforcement.decideReentry(
      request, sealedState: "sealed", transaction: transaction, browserMatches: true, policy: Fixture.policy(),
      now: Fixture.now)
    #expect(outcome.rejection == nil)
  }

  @Test("I-reentry: re-entry checks the browser, the time, the policy and the body type")
  func reentryContext() {
    #expect(reenter(Self.sent, browser: false) == .browserMismatch)
    #expect(reenter(Self.sent, now: Fixture.transaction.expiry) == .transactionExpired)
    #expect(reenter(Self.sent, policy: Fixture.policy { $0.redirectURIs = [] }) == .transactionNoLongerValid)
    #expect(reenter(Self.sent, body: "{}", contentType: "application/json") == .reentryBodyUnreadable)
    let bodyInGET = AuthorizationRequest(method: "GET", query: Self.sent[...], body: Array("client_id=n2".utf8))
    let outcome = Enforcement.decideReentry(
      bodyInGET, sealedState: "sealed", transaction: Fixture.transaction, browserMatches: true,
      policy: Fixture.policy(), now: Fixture.now)
    #expect(outcome.rejection == .reentryBodyUnreadable)
  }

  @Test("8252-8.12-every-step: an embedded user agent is blocked at re-entry too")
  func reentryFromWebView() {
    let request = AuthorizationRequest(
      method: "GET", query: Self.sent[...], userAgent: "Mozilla/5.0 (Linux; Android 10; K; wv) AppleWebKit/537.36")
    func decide(_ policy: Policy) -> Rejection? {
      Enforcement.decideReentry(
        request, sealedState: "sealed", transaction: Fixture.transaction, browserMatches: true, policy: policy,
        now: Fixture.now
      ).rejection
    }
    #expect(decide(Fixture.policy { $0.embeddedUserAgents = .block }) == .userAgentEmbedded)
    #expect(decide(Fixture.policy()) == nil)
  }

  @Test("I-reentry: a challenge at re-entry must be the one that the gateway sent")
  func reentryWithChallenge() {
    var transaction = Fixture.transaction
    transaction.upstreamVerifier = Fixture.verifierOfGateway
    let own = Fixture.verifierOfGateway.challenge.text
    #expect(reenter(Self.sent + "&code_challenge=\(own)&code_challenge_method=S256", transaction: transaction) == nil)
    for challenge in ["other", Fixture.challenge, Fixture.verifierOfGateway.secret.reveal()] {
      let form = Self.sent + "&code_challenge=\(challenge)"
      #expect(reenter(form, transaction: transaction) == .reentryChanged)
    }
    #expect(reenter(Self.sent + "&code_challenge_method=plain", transaction: transaction) == .reentryChanged)
    // The transaction has no verifier, so no challenge was sent, whatever the policy says now.
    #expect(reenter(Self.sent + "&code_challenge=\(own)", policy: Fixture.policy(usesPKCE: true)) == .reentryChanged)
  }

  @Test("I-reentry: a link needs the scope and the challenge that were sent; a form may leave them out")
  func reentryLink() {
    let link = Self.sent.replacing("&scope=read+write", with: "")
    for text in [link, link + "&scope=", "state=sealed&client_id=legacy-n1", "state=sealed&response_type=code"] {
      #expect(reenter(text) == .reentryChanged, "\(text)")
      #expect(reenter("", body: text) == nil, "\(text)")
    }
    #expect(reenter("state=sealed") == nil)
    var transaction = Fixture.transaction
    transaction.upstreamVerifier = Fixture.verifierOfGateway
    let challenge = "&code_challenge=\(Fixture.verifierOfGateway.challenge.text)"
    #expect(reenter(Self.sent, transaction: transaction) == .reentryChanged)
    #expect(reenter(Self.sent + challenge, transaction: transaction) == .reentryChanged)
    #expect(reenter(Self.sent + challenge + "&code_challenge_method=S256", transaction: transaction) == nil)
    #expect(reenter("", body: Self.sent, transaction: transaction) == nil)
  }

  @Test("I-reentry: the resource and the audience are those that were sent")
  func reentryResource() {
    var resource = Fixture.resource
    (resource.upstream.audience, resource.upstream.resource) = ("api", "urn:api")
    let policy = Fixture.policy(resources: [resource])
    var transaction = Fixture.transaction
    transaction.resource = resource.uri.text
    let own = Self.sent + "&audience=api&resource=urn:api"
    #expect(reenter(own, policy: policy, transaction: transaction) == nil)
    #expect(reenter("", body: own, policy: policy, transaction: transaction) == nil)
    #expect(reenter("", body: Self.sent, policy: policy, transaction: transaction) == nil)
    for text in ["&audience=api", "&resource=urn:api", ""] {
      #expect(reenter(Self.sent + text, policy: policy, transaction: transaction) == .reentryChanged, "\(text)")
    }
    for text in ["&audience=other", "&resource=urn:other", "&resource=urn:api", "&audience=api"] {
      #expect(reenter(own + text, policy: policy) == .reentryChanged, "\(text)")
      #expect(reenter("", body: Self.sent + text, policy: policy) == .reentryChanged, "\(text)")
    }
    for text in ["&audience=other", "&resource=urn:other", "&Audience=x", "&audience[]=x"] {
      #expect(reenter("", body: own + text, policy: policy, transaction: transaction) != nil, "\(text)")
    }
    // Without `resources`, the policy decides on neither of them.
    #expect(reenter(Self.sent + "&audience=x&resource=urn:x") == nil)
  }

  @Test("I-reentry: a page sends no claims for a client whose identity is not proven")
  func reentryClaims() {
    #expect(reenter(Self.sent + "&claims=%7B%7D", policy: Fixture.policy { $0.consent = .gateway }) == .reentryChanged)
    #expect(reenter(Self.sent + "&claims=%7B%7D", policy: Fixture.policy { $0.consent = .upstream }) == nil)
  }

  @Test(
    "I-reentry: a page cannot add what an unlisted client may not request",
    arguments: [
      "audience=x", "resource=urn:x", "authorization_details=%5B%5D", "claims=%7B%7D",
    ])
  func reentryUnlisted(addition: String) throws {
    var rules = UnlistedClientRules()
    rules.scopes = ["read", "write"]
    rules.redirects.anyScheme = true
    rules.upstream = UpstreamClient(
      clientID: ClientID("legacy-n1"), clientSecret: Secret("x"), authentication: .basic, redirectURI: .callback)
    let metadata = ClientMetadata(applicationType: .native, redirectURIs: [Fixture.uri("com.example.app:/cb")])
    let client = try #require(rules.client(ClientID("pg1.x"), metadata))
    var transaction = Fixture.transaction
    transaction.binding.client.clientID = client.id
    func decide(_ query: String) -> Rejection? {
      Enforcement.decideReentry(
        AuthorizationRequest(method: "GET", query: query[...]), sealedState: "sealed", transaction: transaction,
        browserMatches: true, policy: Fixture.policy(), now: Fixture.now, unlisted: client
      ).rejection
    }
    #expect(decide(Self.sent) == nil)
    #expect(decide(Self.sent + "&" + addition) == .reentryChanged)
  }

  @Test("I-reentry: a form without OAuth parameters needs the cookie of a live transaction")
  func form() {
    func decide(_ body: String, live: Bool) -> Rejection? {
      let request = AuthorizationRequest(
        method: "POST", query: nil, contentTypes: ["application/x-www-form-urlencoded"], body: Array(body.utf8))
      let decision = Enforcement.decideForm(request, hasRunningTransaction: live, policy: Fixture.policy())
      guard case .reject(let refusal) = decision else { return nil }
      return refusal.rejection
    }
    #expect(decide("user=u&password=p", live: true) == nil)
    #expect(decide("user=u&password=p", live: false) == .formWithoutTransaction)
    #expect(decide("user=u&client_id=n1", live: true) == .reentryChanged)
    #expect(decide("user=u&%C5%BFtate=x", live: true) == .reentryChanged)
    #expect(decide("user=u&audience=x", live: true) == .reentryChanged)
    #expect(decide("user=u&state=&scope=", live: true) == nil)
  }
}
