public import OAuth
public import Policy

/// A token request whose client is who it has to be; what it asks for is still to be opened and checked.
public enum TokenIntent: Sendable {
  case redeem(RedemptionIntent)
  case refresh(RefreshIntent)
  case device(DeviceIntent)
  /// A grant with nothing of the gateway's in it: client credentials. With the client where the gateway has verified its
  /// credentials.
  case forward(UpstreamTokenRequest, verified: Client?)

  /// The client that asks.
  public var client: Client? {
    switch self {
    case .redeem(let intent): intent.client
    case .refresh(let intent): intent.client
    case .device(let intent): intent.client
    case .forward: nil
    }
  }
}

/// Wants to redeem a code.
public struct RedemptionIntent: Sendable {
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

/// Wants to use a refresh token.
public struct RefreshIntent: Sendable {
  public let client: Client
  /// The refresh token as presented, to be opened.
  public let token: Secret
  let scope: Scope?
  let authentication: ClientAuthentication
  /// True if the gateway has compared the client's secret.
  public let clientIsProven: Bool
  let parameters: FormParameters
}

/// Asks after a device authorization.
public struct DeviceIntent: Sendable {
  public let client: Client
  public let deviceCode: Secret
}

/// A form for the upstream's token endpoint. Only this module makes one.
public struct UpstreamTokenRequest: Sendable {
  /// The value of `Authorization`; `nil` without one.
  public let authorization: Secret?
  /// The body, form-encoded from the parsed values.
  public let body: Secret
  /// True if the gateway's own credentials are in it, so that a complaint about them is not the client's fault.
  public let usesGatewayCredentials: Bool
  /// The client's own credentials in it, which only the upstream compares; `nil` without them.
  public let presented: ClientAuthentication?
  /// Texts of the request that the client must not get to see in the answer: the upstream's code or refresh token behind a
  /// sealed one, and the held secret.
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
      // The held secret can be read from the encoded pair of HTTP Basic.
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

/// What became of opening a sealed value.
public enum Opened<Value: Sendable>: Sendable {
  case value(Value)
  /// Not sealed here, altered, sealed for something else, or by a key that is retired.
  case invalid
  /// Sealed by a key that this replica does not know yet.
  case keyUnknown
}
