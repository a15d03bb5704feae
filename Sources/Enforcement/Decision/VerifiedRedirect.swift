public import OAuth
import Policy

/// The destination of an authorization response: a redirect URI that matches a registered one of the client.
///
/// Only `Enforcement` can create it, so no other code can redirect a browser to a client.
public struct VerifiedRedirect: Sendable {
  /// The redirect URI that receives the response.
  public let redirectURI: RedirectURI
  /// The response mode.
  public let mode: ResponseMode
  /// The `state` of the client; `nil` if the client sent none.
  public let state: String?
  let issuer: String
  /// True if the operator does not vouch for the client (`trusted: false`), so that no error redirects to it
  /// automatically (RFC 9700, section 4.11.2).
  let isUntrusted: Bool
  /// True if a redirect to an https URI ends in a fragment that the gateway adds (`fragment_guard`).
  let guardsFragment: Bool
  /// True if errors are shown on a page of the gateway and never sent to the client.
  let showsErrorsOnGatewayPage: Bool

  init(
    redirectURI: RedirectURI, mode: ResponseMode, state: String?, issuer: String, isUntrusted: Bool,
    guardsFragment: Bool = false, showsErrorsOnGatewayPage: Bool = false
  ) {
    self.redirectURI = redirectURI
    self.mode = mode
    self.state = state
    self.issuer = issuer
    self.isUntrusted = isUntrusted
    self.guardsFragment = guardsFragment
    self.showsErrorsOnGatewayPage = showsErrorsOnGatewayPage
  }

  /// The way in which errors reach the client.
  var delivery: RejectionResponse.Delivery {
    if showsErrorsOnGatewayPage { return .here }
    return isUntrusted ? .link(self) : .redirect(self)
  }

  /// Returns an error response with `state` and `iss` (RFC 6749, section 4.1.2.1; RFC 9207).
  public func response(error: OAuthErrorCode, description: String) -> AuthorizationResponse {
    response([
      FormParameters.Entry(.error, error.rawValue),
      FormParameters.Entry(.errorDescription, ErrorDescription.sanitised(description)),
    ])
  }

  func response(_ parameters: [FormParameters.Entry]) -> AuthorizationResponse {
    AuthorizationResponse(
      redirectURI: redirectURI, mode: mode, issuer: issuer, state: state, parameters: parameters,
      guardsFragment: guardsFragment)
  }
}
