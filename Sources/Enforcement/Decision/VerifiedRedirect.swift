public import OAuth
import Policy

/// A place that answers may be sent to: a redirect URI that was compared with the client's registered ones.
///
/// Only this module makes one, so nothing else can send a browser anywhere.
public struct VerifiedRedirect: Sendable {
  public let redirectURI: RedirectURI
  public let mode: ResponseMode
  public let state: String?
  let issuer: String
  /// True if nobody vouches for the client, so that errors do not go there by themselves (RFC 9700, section 4.11.2).
  let isSelfRegistered: Bool
  /// True if redirects to a website end in a fragment of their own.
  let guardsFragment: Bool
  /// True if errors stay on a page of the gateway's.
  let keepsErrors: Bool

  init(
    redirectURI: RedirectURI, mode: ResponseMode, state: String?, issuer: String, isSelfRegistered: Bool,
    guardsFragment: Bool = false, keepsErrors: Bool = false
  ) {
    self.redirectURI = redirectURI
    self.mode = mode
    self.state = state
    self.issuer = issuer
    self.isSelfRegistered = isSelfRegistered
    self.guardsFragment = guardsFragment
    self.keepsErrors = keepsErrors
  }

  /// How errors reach the client.
  var delivery: RejectionResponse.Delivery {
    if keepsErrors { return .here }
    return isSelfRegistered ? .link(self) : .redirect(self)
  }

  /// An error response (RFC 6749, section 4.1.2.1) with `state` and `iss`.
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
