import Enforcement
import OAuth
import Policy
import Telemetry

extension RequestDetails {
  /// Describes an authorization request.
  ///
  /// - Parameter redirectURI: The redirect URI of the request if it was verified, so that it is not parsed again.
  init(authorization parameters: FormParameters, redirectURI: RedirectURI? = nil) {
    self.init()
    self.redirectURI = parameters[.redirectURI].map { redirectURI?.address ?? RequestDetails.logged($0) }
    responseType = parameters[.responseType]
    scope = parameters[.scope]
    pkce =
      switch (parameters[.codeChallenge], parameters[.codeChallengeMethod]) {
      case (nil, _): "none"
      case (.some, "S256"): "S256"
      case (.some, nil), (.some, "plain"): "plain"
      case (.some, .some): "other"
      }
  }

  /// Describes a token request.
  ///
  /// - Parameters:
  ///   - authentication: The client authentication; `nil` if it is malformed or missing.
  ///   - client: The client of the request; `nil` if it is unknown.
  init(token parameters: FormParameters, _ authentication: ClientAuthentication?, _ client: Client? = nil) {
    self.init()
    redirectURI = parameters[.redirectURI].map {
      client?.registeredURI(equalTo: $0)?.address ?? RequestDetails.logged($0)
    }
    scope = parameters[.scope]
    setAuthentication(authentication)
    if parameters[.grantType] == GrantType.authorizationCode.rawValue {
      pkce = parameters[.codeVerifier] == nil ? "none" : "verifier"
    }
  }

  /// Adds the method of client authentication.
  mutating func setAuthentication(_ authentication: ClientAuthentication?) {
    clientAuthentication = authentication.map {
      switch $0.method {
      case .basic: "basic"
      case .post: "post"
      case .assertion: "assertion"
      case .none: "none"
      }
    }
  }

  /// Returns the redirect URI without query, fragment and loopback port; `malformed` for a text that is not a redirect
  /// URI. A text with user information or a fragment is not one (`RedirectURI.init(parsing:)`).
  private static func logged(_ text: String) -> String {
    (try? RedirectURI(parsing: text))?.address ?? "malformed"
  }
}
