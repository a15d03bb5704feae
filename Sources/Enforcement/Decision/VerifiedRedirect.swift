public import OAuth
import Policy

/// A permitted destination of responses: a redirect URI that was compared with the registered ones of the client.
///
/// Only `Enforcement` can create it, so no other code can send a browser anywhere.
public struct VerifiedRedirect: Sendable {
  /// The redirect URI that receives the response.
  public let redirectURI: RedirectURI
  /// The mode in which the response is sent.
  public let mode: ResponseMode
  /// The `state` of the client; `nil` if the client sent none.
  public let state: String?
  let issuer: String
  /// True if the client registered itself, so that errors do not redirect to it automatically (RFC 9700, section
  /// 4.11.2).
  let isSelfRegistered: Bool
  /// True if redirects to a website end in a fragment that the gateway adds.
  let guardsFragment: Bool
  /// True if errors are shown on a page of the gateway and never sent to the client.
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

  /// The way in which errors reach the client.
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
