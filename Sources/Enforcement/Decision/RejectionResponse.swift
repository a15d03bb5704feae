public import OAuth

/// A rejection of a request, and the way in which the client gets the error.
public struct RejectionResponse: Sendable {
  /// The way in which the error reaches the client.
  public enum Delivery: Sendable {
    /// A response to this request: an error page at the authorization endpoint, JSON at the endpoints that clients
    /// call. Never a redirect.
    case here
    /// A redirect to the client.
    case redirect(VerifiedRedirect)
    /// A page that explains the error and has a link to the client, for a client that the operator does not vouch for
    /// (`trusted: false`; RFC 9700, section 4.11.2).
    case link(VerifiedRedirect)
  }

  /// The reason, which determines the status and, without an upstream error, the error code and its description.
  public let rejection: Rejection
  /// The way in which the error reaches the client; always `.here` for a rejection that may not redirect.
  public let delivery: Delivery
  /// Details for the developer or operator who has to solve the problem; `nil` if there are none.
  public let detail: Detail?
  /// The error that the upstream reported, mapped and sanitised; `nil` for an error of the gateway.
  let upstreamError: UpstreamError?

  init(
    _ rejection: Rejection, delivery: Delivery = .here, detail: Detail? = nil, upstreamError: UpstreamError? = nil
  ) {
    self.rejection = rejection
    self.delivery = rejection.mayRedirect ? delivery : .here
    self.detail = detail
    self.upstreamError = upstreamError
  }

  /// Returns a refusal that is not redirected, for problems that only the caller can find, such as a used code or a
  /// timeout.
  public static func here(_ rejection: Rejection) -> RejectionResponse { RejectionResponse(rejection) }

  /// Returns a refusal of such a problem for the client with this verified redirect URI.
  public static func to(_ redirect: VerifiedRedirect, _ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }

  /// The value of `error` (RFC 6749, sections 4.1.2.1 and 5.2).
  public var errorCode: OAuthErrorCode { upstreamError?.code ?? rejection.errorCode }
  /// The value of `error_description` (RFC 6749, sections 4.1.2.1 and 5.2).
  public var errorDescription: String { upstreamError?.description ?? rejection.errorDescription }

  /// The error response for the redirect URI; `nil` if the error is not sent there.
  public var response: AuthorizationResponse? {
    switch delivery {
    case .here: nil
    case .redirect(let redirect), .link(let redirect):
      redirect.response(error: errorCode, description: errorDescription)
    }
  }

  /// True if the status is 401, so that the response needs `WWW-Authenticate: Basic` (RFC 6749, section 5.2).
  public var requiresBasicAuthentication: Bool { rejection.status == 401 }
}

/// Details of a refusal. They contain no value from the request.
public enum Detail: Sendable, Equatable {
  /// The name of a parameter that a specification defines.
  case parameter(String)
  /// The reason why the redirect URI could not be parsed.
  case redirectURI(RedirectURIError)
  /// The requested URI is not registered. `registered` is the index, from 0, of the registered URI that is most similar
  /// to it, and `offset` is the position in bytes at which the two first differ.
  case differingByte(registered: Int, offset: Int)
  /// The requested URI uses the name `localhost`, and no registered one does (RFC 8252, section 8.3).
  case localhost
}

/// An upstream error, mapped to an error code that a client can receive, and without characters that
/// `error_description` must not contain.
struct UpstreamError: Sendable {
  let code: OAuthErrorCode
  let description: String?
}
