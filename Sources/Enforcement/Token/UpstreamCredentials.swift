import OAuth
import Policy

/// The credentials of one token request to the upstream (`I-credentials`).
enum UpstreamCredentials: Sendable {
  /// Credentials that the gateway holds, sent in the way that the upstream requires.
  case held(UpstreamClient, Secret)
  /// The credentials that the client presented, unchanged.
  case presented(ClientAuthentication)
  /// Only an identifier.
  case identifier(ClientID)

  /// Selects held credentials only for a client that is proven: by its secret, by the verifier or by a token sealed to
  /// it.
  ///
  /// `upstream.authentication` determines how held credentials are sent. It has no effect on credentials that a client
  /// presents.
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

  /// The parameters that the credentials add to the body.
  ///
  /// With Basic, the identifier is omitted: some servers refuse both together.
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
  /// True if the credentials that the client presents are those that it has at the upstream: the client uses its own id
  /// there, and has no secret for the gateway, which must never be sent upstream.
  ///
  /// For a public client, this is true only if the gateway holds its upstream secret. Otherwise a secret proves nothing
  /// (RFC 8252, section 8.5) and is not forwarded.
  var presentsUpstreamCredentials: Bool {
    self.upstream.clientID == self.id && self.secret == nil
      && (self.kind == .confidential || self.upstream.clientSecret != nil)
  }
}
