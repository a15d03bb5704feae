public import OAuth

/// A client as legacy servers know them: confidential, with exactly one redirect URI.
public struct LegacyClient: Sendable {
  public var id: String
  public var secret: Secret
  public var name: String
  public var redirectURI: String

  public init(id: String, secret: String, name: String, redirectURI: String) {
    self.id = id
    self.secret = Secret(secret)
    self.name = name
    self.redirectURI = redirectURI
  }
}
