public import OAuth
public import Policy

/// A token request that has passed the rules of the token endpoint. Its code or refresh token is not decrypted yet.
public enum CheckedTokenRequest: Sendable {
  case redeem(RedemptionRequest)
  case refresh(RefreshRequest)
  case device(DeviceRequest)
  /// A request without a code or refresh token (the client credentials grant), which is sent upstream. `verified` is
  /// the client if the gateway has compared its secret; otherwise `nil`.
  case forward(UpstreamTokenRequest, verified: Client?)

  /// The client of the request; `nil` for ``forward(_:verified:)``.
  public var client: Client? {
    switch self {
    case .redeem(let intent): intent.client
    case .refresh(let intent): intent.client
    case .device(let intent): intent.client
    case .forward: nil
    }
  }
}

/// A request to redeem a code.
public struct RedemptionRequest: Sendable {
  /// The client that sent the request.
  public let client: Client
  /// The code as presented.
  public let code: Secret
  let redirectURI: String?
  let verifier: CodeVerifier?
  let sentVerifier: Bool
  let authentication: ClientAuthentication
  /// True if the gateway has compared the client's secret.
  let clientIsProven: Bool
  let parameters: FormParameters
}

/// A request to use a refresh token.
public struct RefreshRequest: Sendable {
  /// The client that sent the request.
  public let client: Client
  /// The refresh token as presented.
  public let token: Secret
  let scope: Scope?
  let authentication: ClientAuthentication
  /// True if the gateway has compared the client's secret.
  public let clientIsProven: Bool
  let parameters: FormParameters
}

/// A request for the result of a device authorization (RFC 8628, section 3.4).
public struct DeviceRequest: Sendable {
  /// The client that sent the request.
  public let client: Client
  /// The device code as presented.
  public let deviceCode: Secret
}

/// A request for the token or revocation endpoint of the upstream. Only `Enforcement` can create it.
public struct UpstreamTokenRequest: Sendable {
  /// The value of `Authorization`; `nil` if the field is not sent.
  public let authorization: Secret?
  /// The body, encoded from the parsed values.
  public let body: Secret
  /// True if the request contains credentials that the gateway holds, so that the client has not caused an error about
  /// them.
  public let usesGatewayCredentials: Bool
  /// The client's credentials in the request, which only the upstream compares; `nil` if there are none.
  public let presented: ClientAuthentication?
  /// The upstream's code or refresh token that was sealed, and the gateway's verifier.
  private let hiddenValues: [Secret]
  private let heldSecret: Secret?
  /// True if the client may only get refresh tokens that the gateway has sealed to it.
  public let sealsRefreshToken: Bool

  init(
    _ credentials: UpstreamCredentials, parameters: FormParameters, entries: [FormParameters.Entry],
    hiding values: [Secret] = [], sealsRefreshToken: Bool = false
  ) {
    hiddenValues = values
    heldSecret = credentials.heldSecret
    authorization = credentials.authorization
    self.sealsRefreshToken = sealsRefreshToken
    usesGatewayCredentials = credentials.isHeld
    presented = credentials.presented
    body = Secret(FormEncoding.serialise(entries + credentials.entries(from: parameters)))
  }

  /// Texts of the request that the response to the client must not contain: the upstream's code or refresh token that
  /// was sealed, the gateway's verifier, and the secret that the gateway holds.
  public var hidden: [Secret] {
    guard let heldSecret else { return hiddenValues }
    // The secret can be decoded from the base64 text of HTTP Basic, so that text is hidden, too.
    let pair = authorization.map { [BasicCredentials.encodedPair(of: $0)] } ?? []
    return hiddenValues + [heldSecret] + pair
  }
}

/// The result of decrypting a sealed value.
public enum Opened<Value: Sendable>: Sendable {
  /// The content of the value.
  case value(Value)
  /// The value was not sealed by a gateway with this issuer, was altered, was sealed for another purpose, or was sealed
  /// with a key that is retired.
  case invalid
  /// The value was sealed with a key that this replica does not know: a new key that it has not loaded yet, or the key
  /// of another deployment.
  case keyUnknown
}
