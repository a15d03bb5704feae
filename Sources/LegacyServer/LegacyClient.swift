public import OAuth

/// A client of a legacy server: confidential, with exactly one redirect URI.
public struct LegacyClient: Sendable {
  /// The client id.
  public var id: String
  /// The client secret.
  public var secret: Secret
  /// The name on the consent page.
  public var name: String
  /// The registered redirect URI.
  public var redirectURI: String

  /// Creates a client.
  public init(id: String, secret: String, name: String, redirectURI: String) {
    self.id = id
    self.secret = Secret(secret)
    self.name = name
    self.redirectURI = redirectURI
  }
}
