public import OAuth
import Policy

/// A request for the token or revocation endpoint of the upstream. Only `Enforcement` can create it.
public struct UpstreamTokenRequest: Sendable {
  /// The value of `Authorization`; `nil` if the field is not sent.
  public let authorization: Secret?
  /// The body, encoded from the parsed values.
  public let body: Secret
  /// True if the request contains credentials that the gateway holds. If the upstream then refuses the credentials, the
  /// client is not the cause.
  public let usesGatewayCredentials: Bool
  /// The client's credentials in the request, which only the upstream compares; `nil` if there are none.
  public let presentedCredentials: ClientAuthentication?
  /// The values in the request that the client does not know: the upstream's code or token, and the gateway's verifier.
  private let hiddenValues: [Secret]
  /// The client secret that the gateway holds and sends in the request; `nil` if the request does not contain it.
  private let heldSecret: Secret?
  /// True if the gateway seals the refresh token of the response. The client must then not get the upstream's own
  /// token.
  public let sealsRefreshToken: Bool
  /// True if the request polls for the result of a device flow, to which the upstream answers with the errors of RFC
  /// 8628, section 3.5.
  public let isDevicePoll: Bool

  init(
    _ credentials: UpstreamCredentials, parameters: FormParameters, entries: [FormParameters.Entry],
    hiding values: [Secret] = [], sealsRefreshToken: Bool = false, isDevicePoll: Bool = false
  ) {
    self.isDevicePoll = isDevicePoll
    hiddenValues = values
    heldSecret = credentials.heldSecret
    authorization = credentials.authorization
    self.sealsRefreshToken = sealsRefreshToken
    usesGatewayCredentials = credentials.isHeld
    presentedCredentials = credentials.presentedCredentials
    body = Secret(FormEncoding.serialise(entries + credentials.entries(from: parameters)))
  }

  /// The texts of the request that the response to the client must not contain: the upstream's code or token, the
  /// gateway's verifier, and the secret that the gateway holds. An upstream token that the client itself presented is
  /// not among them.
  public var hiddenTexts: [Secret] {
    guard let heldSecret else { return hiddenValues }
    // The secret can be decoded from the base64 text of HTTP Basic, so that text is hidden, too.
    let encodedPairs = authorization.map { [BasicCredentials.encodedPair(of: $0)] } ?? []
    return hiddenValues + [heldSecret] + encodedPairs
  }
}

/// The credentials of one token request to the upstream (invariant `I-credentials`).
enum UpstreamCredentials: Sendable {
  /// Credentials that the gateway holds. `upstream.authentication` of the client determines how they are sent.
  case held(UpstreamClient, Secret)
  /// The credentials that the client presented, in the form in which it presented them.
  case presented(ClientAuthentication)
  /// No credentials, only a client id.
  case identifier(ClientID)

  /// Selects the credentials.
  ///
  /// - Parameters:
  ///   - client: The client.
  ///   - authentication: The credentials that the client presented.
  ///   - isProven: True if the identity of the client is proven: by its secret, by the verifier, or by a token that is
  ///     sealed to it. Only then are credentials that the gateway holds used, except for refresh tokens from before the
  ///     gateway (``Enforcement/decideRefresh(_:opened:policy:now:)``).
  init(client: Client, authentication: ClientAuthentication, isProven: Bool) {
    let presents = client.presentsUpstreamCredentials && authentication.method != .none
    if presents, client.mode == .observe {
      // An observed client depends on nothing that the policy says about it.
      self = .presented(authentication)
    } else if isProven, let secret = client.upstream.clientSecret, client.upstream.authentication != .none {
      self = .held(client.upstream, secret)
    } else if presents {
      self = .presented(authentication)
    } else {
      self = .identifier(client.upstream.clientID)
    }
  }

  var isHeld: Bool {
    guard case .held = self else { return false }
    return true
  }

  var heldSecret: Secret? {
    guard case .held(_, let secret) = self else { return nil }
    return secret
  }

  var presentedCredentials: ClientAuthentication? {
    guard case .presented(let authentication) = self else { return nil }
    return authentication
  }

  var authorization: Secret? {
    switch self {
    case .held(let client, let secret) where client.authentication == .basic:
      BasicCredentials(user: client.clientID.rawValue, password: secret).header
    case .held(let client, let secret) where client.authentication == .basicRaw:
      BasicCredentials(user: client.clientID.rawValue, password: secret).rawHeader
    case .presented(let authentication): authentication.authorizationHeader
    case .held, .identifier: nil
    }
  }

  /// Returns the parameters that the credentials add to the body.
  ///
  /// With HTTP Basic, `client_id` is omitted, because some servers refuse a request with both.
  ///
  /// - Parameter parameters: The parameters of the client's request. Credentials that the client presented in the body
  ///   are copied from them.
  func entries(from parameters: FormParameters) -> [FormParameters.Entry] {
    switch self {
    case .held(let client, let secret):
      guard client.authentication == .post else { return [] }
      return [
        FormParameters.Entry(.clientID, client.clientID.rawValue),
        FormParameters.Entry(.clientSecret, secret.reveal()),
      ]
    case .presented(let authentication) where authentication.method == .basic: return []
    case .presented:
      let names: ParameterNames = [.clientAuthentication, ParameterNames(.clientID)]
      return parameters.entries.filter { names.contains($0.parameter) && !$0.value.isEmpty }
    case .identifier(let id): return [FormParameters.Entry(.clientID, id.rawValue)]
    }
  }
}

extension Client {
  /// True if the gateway forwards credentials that the client presents, because the client uses them at the upstream,
  /// too. The client then has the same id there, and no separate secret for the gateway. Such a separate secret must
  /// never be sent upstream.
  ///
  /// For a public client, the property is true only if the gateway holds the upstream secret of this client, if the client
  /// is observed, or if the policy accepts its old version. The secret of any other public client proves nothing (RFC
  /// 8252, section 8.5) and is not forwarded.
  var presentsUpstreamCredentials: Bool {
    self.upstream.clientID == self.id && self.secret == nil
      && (self.kind == .confidential || self.upstream.clientSecret != nil || self.mode == .observe
        || self.acceptOldVersionUntil != nil)
  }
}
