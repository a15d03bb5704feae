import Testing

@testable import OAuth

@Suite("Parameter names")
struct ParameterNameTests {
  /// The parameters with their names in the specifications.
  private static let texts: [(ParameterName, String)] = [
    (.responseType, "response_type"),
    (.clientID, "client_id"),
    (.redirectURI, "redirect_uri"),
    (.scope, "scope"),
    (.state, "state"),
    (.grantType, "grant_type"),
    (.code, "code"),
    (.clientSecret, "client_secret"),
    (.refreshToken, "refresh_token"),
    (.username, "username"),
    (.password, "password"),
    (.error, "error"),
    (.errorDescription, "error_description"),
    (.errorURI, "error_uri"),
    (.codeChallenge, "code_challenge"),
    (.codeChallengeMethod, "code_challenge_method"),
    (.codeVerifier, "code_verifier"),
    (.token, "token"),
    (.tokenTypeHint, "token_type_hint"),
    (.assertion, "assertion"),
    (.clientAssertion, "client_assertion"),
    (.clientAssertionType, "client_assertion_type"),
    (.deviceCode, "device_code"),
    (.audience, "audience"),
    (.resource, "resource"),
    (.request, "request"),
    (.requestURI, "request_uri"),
    (.registration, "registration"),
    (.issuer, "iss"),
    (.authorizationDetails, "authorization_details"),
    (.responseMode, "response_mode"),
    (.nonce, "nonce"),
    (.display, "display"),
    (.prompt, "prompt"),
    (.maxAge, "max_age"),
    (.uiLocales, "ui_locales"),
    (.claimsLocales, "claims_locales"),
    (.idTokenHint, "id_token_hint"),
    (.loginHint, "login_hint"),
    (.acrValues, "acr_values"),
    (.claims, "claims"),
    (.sessionState, "session_state"),
    (.errorMessage, "error_message"),
  ]

  @Test("A parameter is recognised by its exact name, in this letter case only", arguments: texts)
  func text(name: ParameterName, text: String) throws {
    #expect(name.text == text)
    #expect(ParameterName(text) == name)
    #expect(ParameterName(text.uppercased()) == nil)
    #expect(ParameterName(text + "\u{301}") == nil)
    #expect(ParameterName(text + "s") == nil)
    #expect(FormEncoding.encode(text) == text)
    #expect(FormParameters([.init(name, "1")]).serialised == text + "=1")
    let parsed = try #require(FormParameters(parsing: text + "=1"))
    #expect(parsed.entries == [FormParameters.Entry(name, "1")] && parsed.entries == [FormParameters.Entry(text, "1")])
  }

  @Test("The list of names is complete, and no other name is a parameter")
  func all() {
    #expect(Self.texts.map(\.0) == ParameterName.allCases)
    for text in ["", "Scope", "client", "client_id[]", String(repeating: "a", count: 1_000)] {
      #expect(ParameterName(text) == nil)
      #expect(!ParameterNames.atAuthorization.contains(ParameterName(text)))
    }
  }

  /// Each set with its members, as their names in alphabetical order.
  @Test(
    "A set has exactly these members",
    arguments: [
      (ParameterNames.authorization, "client_id redirect_uri response_type scope state"),
      (.pkce, "code_challenge code_challenge_method"),
      (
        .openIDConnect,
        "acr_values claims claims_locales display id_token_hint login_hint max_age nonce prompt ui_locales"
      ),
      (.requestObjects, "registration request request_uri"),
      (.repeatable, "resource"),
      (
        .atAuthorization,
        "acr_values authorization_details claims claims_locales client_id code_challenge code_challenge_method display "
          + "id_token_hint login_hint max_age nonce prompt redirect_uri registration request request_uri resource "
          + "response_mode response_type scope state ui_locales"
      ),
      (
        .atToken,
        "assertion client_assertion client_assertion_type client_id client_secret code code_verifier device_code "
          + "grant_type password redirect_uri refresh_token resource scope username"
      ),
      (.clientAuthentication, "client_assertion client_assertion_type client_secret"),
      (
        .inResponse,
        "code error error_description error_message error_uri iss scope session_state state"
      ),
    ])
  func sets(names: ParameterNames, members: String) {
    #expect(names.sorted.map(\.text).joined(separator: " ") == members)
  }

  @Test("A pushed request may contain the parameters of an authorization request and of client authentication")
  func pushed() {
    #expect(ParameterNames.atPushed == [.atAuthorization, .clientAuthentication])
  }
}
