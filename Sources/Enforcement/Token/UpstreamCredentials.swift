import OAuth
import Policy

/// Who the gateway is to the upstream in one token request (`I-credentials`).
enum UpstreamCredentials: Sendable {
  /// The gateway's own, in the way that the upstream wants them.
  case held(UpstreamClient, Secret)
  /// What the client presented, unchanged.
  case presented(ClientAuthentication)
  /// An identifier alone.
  case identifier(ClientID)

  /// Held credentials only for a client that proved itself, by its secret, by the verifier or by a token sealed to it.
  init(client: Client, authentication: ClientAuthentication, isProven: Bool) {
    if isProven, let secret = client.upstream.clientSecret, client.upstream.authentication != .none {
      self = .held(client.upstream, secret)
    } else if client.upstream.clientID == client.id, client.upstream.authentication != .none,
      authentication.method != .none
    {
      self = .presented(authentication)
    } else {
      self = .identifier(client.upstream.clientID)
    }
  }

  var isHeld: Bool {
    guard case .held = self else { return false }
    return true
  }

  var authorization: Secret? {
    switch self {
    case .held(let client, let secret) where client.authentication == .basic:
      BasicCredentials(user: client.clientID.rawValue, password: secret).header
    case .presented(let authentication): authentication.authorizationHeader
    case .held, .identifier: nil
    }
  }

  /// What the credentials add to the body.
  ///
  /// With Basic the identifier stays out: some servers refuse both together.
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
