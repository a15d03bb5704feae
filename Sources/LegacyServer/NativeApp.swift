import Cryptography
import FoundationEssentials
public import HTTP
public import OAuth

/// A native app that does all that RFC 8252 asks of apps: PKCE, state, and a look at the issuer of the answer.
public struct NativeApp: Sendable {
  /// Where the app finds its authorization server.
  public struct Server: Sendable {
    public var authorizationEndpoint: WebAddress
    public var tokenEndpoint: WebAddress
    /// What `iss` must say (RFC 9207, section 2.4); `nil` when the server sends none.
    public var issuer: String?

    public init(authorizationEndpoint: WebAddress, tokenEndpoint: WebAddress, issuer: String?) {
      self.authorizationEndpoint = authorizationEndpoint
      self.tokenEndpoint = tokenEndpoint
      self.issuer = issuer
    }
  }

  /// One attempt to sign in.
  public struct Attempt: Sendable {
    public let verifier: Secret
    public let challenge: String
    public let state: String
    /// What the app opens in the browser.
    public let url: WebAddress
  }

  /// Why the app does not accept an answer.
  public enum Refusal: Error, Equatable {
    /// The answer belongs to another attempt (RFC 6749, section 10.12).
    case wrongState
    /// The answer comes from another server (RFC 9207, section 2.4).
    case wrongIssuer
    case error(String)
    case noCode
  }

  public struct Tokens: Sendable, Decodable {
    enum CodingKeys: String, CodingKey {
      case accessToken = "access_token"
      case tokenType = "token_type"
      case refreshToken = "refresh_token"
      case scope
    }

    public var accessToken: Secret
    public var tokenType: String
    public var refreshToken: Secret?
    public var scope: String?

    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      accessToken = Secret(try members.decode(String.self, forKey: .accessToken))
      tokenType = try members.decode(String.self, forKey: .tokenType)
      refreshToken = try members.decodeIfPresent(String.self, forKey: .refreshToken).map(Secret.init)
      scope = try members.decodeIfPresent(String.self, forKey: .scope)
    }
  }

  public var clientID: String
  public var redirectURI: String
  public var scope: String?
  public var server: Server

  public init(clientID: String, redirectURI: String, scope: String? = "profile", server: Server) {
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.scope = scope
    self.server = server
  }

  /// Makes a verifier of 43 characters (RFC 7636, section 4.1) and a state, and the address to open.
  ///
  /// - Parameter adjust: Changes the parameters before they are sent, for the steps that show what is refused.
  public func start(adjusting adjust: (inout Form) -> Void = { _ in }) -> Attempt {
    let verifier = Base64URL.encode(randomBytes(32))
    let challenge = Base64URL.encode(sha256(Array(verifier.utf8)))
    let state = Base64URL.encode(randomBytes(16))
    var parameters: Form = ["response_type": "code", "client_id": clientID, "redirect_uri": redirectURI]
    if let scope { parameters.append("scope", scope) }
    parameters.append("state", state)
    parameters.append("code_challenge", challenge)
    parameters.append("code_challenge_method", "S256")
    adjust(&parameters)
    let endpoint = server.authorizationEndpoint
    let url = endpoint.at(parameters.added(to: endpoint.target))
    return Attempt(verifier: Secret(verifier), challenge: challenge, state: state, url: url)
  }

  /// Takes what came to the redirect URI and gives the code.
  public func code(in answer: Form, for attempt: Attempt) throws(Refusal) -> Secret {
    guard answer["state"] == attempt.state else { throw .wrongState }
    if let issuer = server.issuer, answer["iss"] != issuer { throw .wrongIssuer }
    if let error = answer["error"] { throw .error(error) }
    guard let code = answer["code"] else { throw .noCode }
    return Secret(code)
  }

  /// The token request of a public client (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
  ///
  /// - Parameter adjust: Changes the parameters before they are sent.
  public func tokenRequest(
    code: Secret, verifier: Secret, adjusting adjust: (inout Form) -> Void = { _ in }
  ) -> Request {
    var parameters: Form = [
      "grant_type": "authorization_code", "code": code.reveal(), "redirect_uri": redirectURI, "client_id": clientID,
      "code_verifier": verifier.reveal(),
    ]
    adjust(&parameters)
    return post(parameters)
  }

  /// RFC 6749, section 6.
  public func refreshRequest(refreshToken: Secret) -> Request {
    post(["grant_type": "refresh_token", "refresh_token": refreshToken.reveal(), "client_id": clientID])
  }

  private func post(_ parameters: Form) -> Request {
    Request(
      method: "POST", target: server.tokenEndpoint.target,
      headers: [
        "Host": server.tokenEndpoint.authority, "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
      ], body: Array(parameters.encoded.utf8))
  }

  /// The tokens in an answer of the token endpoint; `nil` when it is none.
  public static func tokens(in response: Response) -> Tokens? {
    guard response.status == 200 else { return nil }
    return try? JSONDecoder().decode(Tokens.self, from: Data(response.body))
  }

  /// The error code in an answer of the token endpoint (RFC 6749, section 5.2).
  public static func error(in response: Response) -> String? {
    struct Answer: Decodable {
      var error: String
    }
    return try? JSONDecoder().decode(Answer.self, from: Data(response.body)).error
  }
}
