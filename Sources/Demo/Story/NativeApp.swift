internal import ByteText
import Cryptography
import FoundationEssentials
public import HTTP
public import LegacyServer
public import OAuth

/// A native app as RFC 8252 describes it: it uses PKCE and `state`, and checks the issuer of the response (RFC 9207).
public struct NativeApp: Sendable {
  /// The app's settings for its authorization server.
  public struct Server: Sendable {
    /// The authorization endpoint.
    public var authorizationEndpoint: WebAddress
    /// The token endpoint.
    public var tokenEndpoint: WebAddress
    /// The expected `iss` of an authorization response (RFC 9207, section 2.4); `nil` to accept any.
    public var issuer: String?

    /// Creates the server's description.
    public init(authorizationEndpoint: WebAddress, tokenEndpoint: WebAddress, issuer: String?) {
      self.authorizationEndpoint = authorizationEndpoint
      self.tokenEndpoint = tokenEndpoint
      self.issuer = issuer
    }
  }

  /// One attempt to sign in.
  public struct Attempt: Sendable {
    /// The code verifier, 43 characters (RFC 7636, section 4.1).
    public let verifier: Secret
    /// The `S256` code challenge (RFC 7636, section 4.2).
    public let challenge: String
    /// The `state` of the request.
    public let state: String
    /// The URL of the authorization request, which the app opens in the browser.
    public let url: WebAddress
  }

  /// The reason why the app rejects a response.
  public enum Refusal: Error, Equatable {
    /// The `state` is not that of the attempt (RFC 6749, section 10.12).
    case wrongState
    /// The `iss` is not the expected one (RFC 9207, section 2.4).
    case wrongIssuer
    /// The response is an error; the value is its `error` parameter.
    case error(String)
    /// The response contains neither an error nor a code.
    case noCode
  }

  /// A token response (RFC 6749, section 5.1).
  public struct Tokens: Sendable, Decodable {
    enum CodingKeys: String, CodingKey {
      case accessToken = "access_token"
      case tokenType = "token_type"
      case refreshToken = "refresh_token"
      case scope
    }

    /// The access token.
    public var accessToken: Secret
    /// The token type, for example `bearer`.
    public var tokenType: String
    /// The refresh token, if the server issued one.
    public var refreshToken: Secret?
    /// The granted scope, if the server sends it.
    public var scope: String?

    /// Decodes the members of RFC 6749, section 5.1.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      accessToken = Secret(try members.decode(String.self, forKey: .accessToken))
      tokenType = try members.decode(String.self, forKey: .tokenType)
      refreshToken = try members.decodeIfPresent(String.self, forKey: .refreshToken).map(Secret.init)
      scope = try members.decodeIfPresent(String.self, forKey: .scope)
    }
  }

  /// The client id.
  public var clientID: String
  /// The redirect URI of authorization requests and token requests.
  public var redirectURI: String
  /// The requested scope; `nil` for no scope parameter.
  public var scope: String?
  /// The authorization server.
  public var server: Server

  /// Creates an app, by default with the scope `profile`.
  public init(clientID: String, redirectURI: String, scope: String? = "profile", server: Server) {
    self.clientID = clientID
    self.redirectURI = redirectURI
    self.scope = scope
    self.server = server
  }

  /// Starts an attempt: creates a verifier, a `state` and the authorization request.
  ///
  /// - Parameter adjust: Changes the parameters. Some steps of the demo use it to send an invalid request.
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

  /// Checks the parameters of an authorization response and returns the code.
  public func code(in parameters: Form, for attempt: Attempt) throws(Refusal) -> Secret {
    guard parameters["state"] == attempt.state else { throw .wrongState }
    if let issuer = server.issuer, parameters["iss"] != issuer { throw .wrongIssuer }
    if let error = parameters["error"] { throw .error(error) }
    guard let code = parameters["code"] else { throw .noCode }
    return Secret(code)
  }

  /// Returns the token request of a public client (RFC 6749, section 4.1.3; RFC 7636, section 4.5).
  ///
  /// - Parameter adjust: Changes the parameters of the request.
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

  /// Returns a refresh request (RFC 6749, section 6).
  public func refreshRequest(refreshToken: Secret) -> Request {
    post(["grant_type": "refresh_token", "refresh_token": refreshToken.reveal(), "client_id": clientID])
  }

  private func post(_ parameters: Form) -> Request { Request(posting: parameters, to: server.tokenEndpoint) }

  /// Returns the tokens in a token response; `nil` if the status is not 200 or the body lacks the access token or the
  /// token type.
  public static func tokens(in response: Response) -> Tokens? {
    guard response.status == 200 else { return nil }
    return try? JSONDecoder().decode(Tokens.self, from: Data(response.body))
  }

  /// Returns the error code in a token response (RFC 6749, section 5.2); `nil` if the body has none.
  public static func error(in response: Response) -> String? {
    struct ErrorBody: Decodable {
      var error: String
    }
    return try? JSONDecoder().decode(ErrorBody.self, from: Data(response.body)).error
  }
}
