public import OAuth

/// A refusal and the way in which the client learns of it.
public struct RejectionResponse: Sendable {
  /// The way in which a refusal reaches the client.
  public enum Delivery: Sendable {
    /// An error page at the authorization endpoint, a JSON response at the others. Never a redirect.
    case here
    /// A redirect to the client.
    case redirect(VerifiedRedirect)
    /// A page that explains the error and links to the client, for clients that registered themselves (RFC 9700,
    /// section 4.11.2).
    case link(VerifiedRedirect)
  }

  /// The rule violation, which determines the error code, the status and the words.
  public let rejection: Rejection
  /// The way in which the client learns of it; always `.here` for a rejection that may not redirect.
  public let delivery: Delivery
  /// The exact problem, if it helps the developer or operator who has to fix it.
  public let detail: Detail?
  /// The error that the upstream reported, mapped and sanitised; `nil` if the gateway words the error itself.
  let upstreamError: UpstreamError?

  init(
    _ rejection: Rejection, delivery: Delivery = .here, detail: Detail? = nil, upstreamError: UpstreamError? = nil
  ) {
    self.rejection = rejection
    self.delivery = rejection.mayRedirect ? delivery : .here
    self.detail = detail
    self.upstreamError = upstreamError
  }

  /// A refusal that is not redirected, for problems that only the caller can find: a used code, a timeout.
  public static func here(_ rejection: Rejection) -> RejectionResponse { RejectionResponse(rejection) }

  /// A refusal of such a problem that is delivered to the client of a verified redirect URI.
  public static func to(_ redirect: VerifiedRedirect, _ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }

  /// The value of `error` (RFC 6749, sections 4.1.2.1 and 5.2).
  public var errorCode: OAuthErrorCode { upstreamError?.code ?? rejection.errorCode }
  /// The value of `error_description` (RFC 6749, sections 4.1.2.1 and 5.2).
  public var errorDescription: String { upstreamError?.description ?? rejection.errorDescription }

  /// The error response for the client; `nil` if the refusal is not sent to a redirect URI.
  public var response: AuthorizationResponse? {
    switch delivery {
    case .here: nil
    case .redirect(let redirect), .link(let redirect):
      redirect.response(error: errorCode, description: errorDescription)
    }
  }

  /// True if the response is a 401 with `WWW-Authenticate: Basic` (RFC 6749, section 5.2).
  public var asksForBasic: Bool { rejection.status == 401 }
}

/// The exact problem. Contains no text of the request.
public enum Detail: Sendable, Equatable {
  /// The name of a parameter that a specification defines.
  case parameter(String)
  /// The reason why the redirect URI could not be parsed.
  case redirectURI(RedirectURIError)
  /// The index of the registered URI that is nearest to the requested one, from 0, and the offset in bytes at which
  /// they first differ.
  case differingByte(registered: Int, offset: Int)
  /// The requested URI uses the name `localhost`, which matches no loopback literal (RFC 8252, section 8.3).
  case localhost
}

/// An upstream error, mapped to a registered code and without characters that a response must not contain.
struct UpstreamError: Sendable {
  let code: OAuthErrorCode
  let description: String?
}
