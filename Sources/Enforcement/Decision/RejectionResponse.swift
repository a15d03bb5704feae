public import OAuth

/// A refusal and how the client learns of it.
public struct RejectionResponse: Sendable {
  public enum Delivery: Sendable {
    /// An error page at the authorization endpoint, a JSON answer at the others. Never a redirect.
    case here
    /// A redirect to the client.
    case redirect(VerifiedRedirect)
    /// A page that says what happened and links to the client: for clients that nobody vouches for (RFC 9700, 4.11.2).
    case link(VerifiedRedirect)
  }

  public let rejection: Rejection
  public let delivery: Delivery
  /// What exactly was wrong, where that helps whoever has to mend it.
  public let detail: Detail?
  /// What the upstream said, mapped and sanitised; `nil` where the words are the gateway's.
  let upstreamError: UpstreamError?

  init(
    _ rejection: Rejection, delivery: Delivery = .here, detail: Detail? = nil, upstreamError: UpstreamError? = nil
  ) {
    self.rejection = rejection
    self.delivery = rejection.mayRedirect ? delivery : .here
    self.detail = detail
    self.upstreamError = upstreamError
  }

  /// A refusal that is answered where it happened, for what only the caller can know: a used code, a timeout.
  public static func here(_ rejection: Rejection) -> RejectionResponse { RejectionResponse(rejection) }

  /// The same refusal, as told to the client of a verified redirect URI.
  public static func to(_ redirect: VerifiedRedirect, _ rejection: Rejection) -> RejectionResponse {
    RejectionResponse(rejection, delivery: redirect.delivery)
  }

  public var errorCode: OAuthErrorCode { upstreamError?.code ?? rejection.errorCode }
  public var errorDescription: String { upstreamError?.description ?? rejection.errorDescription }

  /// The error response for the client; `nil` when the refusal is answered here.
  public var response: AuthorizationResponse? {
    switch delivery {
    case .here: nil
    case .redirect(let redirect), .link(let redirect):
      redirect.response(error: errorCode, description: errorDescription)
    }
  }

  /// True if a 401 answer carries `WWW-Authenticate: Basic` (RFC 6749, section 5.2).
  public var asksForBasic: Bool { rejection.status == 401 }
}

/// What exactly was wrong. Holds no text of the request.
public enum Detail: Sendable, Equatable {
  /// A parameter of the specifications.
  case parameter(String)
  case redirectURI(RedirectURIError)
  /// The registered URI, counted from 0, that is nearest to the requested one, and the offset in bytes of the first byte
  /// that differs.
  case differingByte(registered: Int, offset: Int)
  /// The requested URI has the name `localhost`, which matches no loopback literal (RFC 8252, section 8.3).
  case localhost
}

/// An upstream's error, mapped to the registry and free of characters that a response must not have.
struct UpstreamError: Sendable {
  let code: OAuthErrorCode
  let description: String?
}
