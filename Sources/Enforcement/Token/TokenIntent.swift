public import OAuth
public import Policy

/// A token request whose client has been checked; its code or token is still to be opened and checked.
public enum TokenIntent: Sendable {
  case redeem(RedemptionIntent)
  case refresh(RefreshIntent)
  case device(DeviceIntent)
  /// A grant without a sealed value: client credentials. `verified` is the client if the gateway has verified its
  /// credentials.
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
public struct RedemptionIntent: Sendable {
  /// The client that sent the request.
  public let client: Client
  /// The code as presented, to be opened.
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
public struct RefreshIntent: Sendable {
  /// The client that sent the request.
  public let client: Client
  /// The refresh token as presented, to be opened.
  public let token: Secret
  let scope: Scope?
  let authentication: ClientAuthentication
  /// True if the gateway has compared the client's secret.
  public let clientIsProven: Bool
  let parameters: FormParameters
}

/// A request for the result of a device authorization (RFC 8628, section 3.4).
public struct DeviceIntent: Sendable {
  /// The client that sent the request.
  public let client: Client
  /// The device code as presented.
  public let deviceCode: Secret
}

/// A form for the token or revocation endpoint of the upstream. Only `Enforcement` can create it.
public struct UpstreamTokenRequest: Sendable {
  /// The value of `Authorization`; `nil` to send none.
  public let authorization: Secret?
  /// The body, form-encoded from the parsed values.
  public let body: Secret
  /// True if it contains credentials that the gateway holds, so that an error about them is not the client's fault.
  public let usesGatewayCredentials: Bool
  /// The client's credentials in it, which only the upstream compares; `nil` without them.
  public let presented: ClientAuthentication?
  /// Texts of the upstream request that must not reach the client in the response: the upstream code or refresh token
  /// behind a sealed one, and the held secret.
  public let hidden: [Secret]
  /// True if the client may only get refresh tokens that are sealed to it.
  public let sealsRefreshToken: Bool

  init(
    _ credentials: UpstreamCredentials, parameters: FormParameters, entries: [FormParameters.Entry],
    hiding values: [Secret] = [], sealsRefreshToken: Bool = false
  ) {
    let authorization = credentials.authorization
    var hidden = values
    if let secret = credentials.heldSecret {
      hidden.append(secret)
      // The held secret can be decoded from the base64 text of HTTP Basic.
      if let authorization { hidden.append(BasicCredentials.encodedPair(of: authorization)) }
    }
    self.hidden = hidden
    self.authorization = authorization
    self.sealsRefreshToken = sealsRefreshToken
    usesGatewayCredentials = credentials.isHeld
    presented = credentials.presented
    body = Secret(FormEncoding.serialise(entries + credentials.entries(from: parameters)))
  }
}

/// The result of opening a sealed value.
public enum Opened<Value: Sendable>: Sendable {
  /// The content of the value.
  case value(Value)
  /// The value was not sealed by this gateway, was altered, was sealed for another purpose, or with a key that is
  /// retired.
  case invalid
  /// The value was sealed with a key that this replica does not know yet.
  case keyUnknown
}
