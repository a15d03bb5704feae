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
  ///
  /// `upstream.authentication` says how held credentials are sent. It has no effect on credentials that a client presents.
  init(client: Client, authentication: ClientAuthentication, isProven: Bool) {
    if isProven, let secret = client.upstream.clientSecret, client.upstream.authentication != .none {
      self = .held(client.upstream, secret)
    } else if client.presentsUpstreamCredentials, authentication.method != .none {
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

  var presented: ClientAuthentication? {
    guard case .presented(let authentication) = self else { return nil }
    return authentication
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

extension Client {
  /// True if what the client presents are its credentials at the upstream: the upstream knows it by its own id, and it has
  /// no secret of the gateway's, which must never go upstream.
  ///
  /// For a public client this holds only where the gateway holds that secret. Otherwise a secret proves nothing (RFC 8252,
  /// section 8.5) and stays here.
  var presentsUpstreamCredentials: Bool {
    self.upstream.clientID == self.id && self.secret == nil
      && (self.kind == .confidential || self.upstream.clientSecret != nil)
  }
}
