/// A grant type that Proofgate knows (RFC 6749, sections 4 and 6; RFC 8628, section 3.4).
public enum GrantType: String, Sendable, CaseIterable {
  case authorizationCode = "authorization_code"
  case refreshToken = "refresh_token"
  case clientCredentials = "client_credentials"
  case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
  /// Proofgate knows this grant only so that a refusal can name it (RFC 9700, section 2.4). A client whose `mode` is
  /// `enforce` must not use it.
  case password
}
