/// The content of the gateway's consent page (`I-consent`; RFC 8252, section 8.6; RFC 6819, section 5.2.3.2).
public struct ConsentPage: Sendable {
  /// The names and values of the form fields that the page posts.
  public enum Field {
    /// The name of the hidden field with the sealed authorization request.
    public static let token = "consent_token"
    /// The name of the field with the user's decision, ``approve`` or ``deny``.
    public static let decision = "decision"
    /// The value of ``decision`` if the user presses the Allow button.
    public static let approve = "approve"
    /// The value of ``decision`` if the user presses the “Don’t allow” button.
    public static let deny = "deny"
  }

  /// The identity of the app, as far as the page may state it.
  public enum Identity: String, Sendable {
    /// The operator vouches for the client, and a secret or a claimed https redirect URI proves the identity of the app.
    case proven
    /// The operator vouches for the client, but other programs on the device can use its redirect URI.
    case vouchedFor
    /// The client is known only from what it says of itself, or the operator does not vouch for it.
    case unverified
  }

  /// A protected resource (RFC 8707).
  public struct Resource: Sendable {
    /// Its name in the policy; `nil` if it has none.
    public var name: String?
    /// Its identifier.
    public var identifier: String

    /// Creates a resource.
    public init(name: String?, identifier: String) {
      self.name = name
      self.identifier = identifier
    }
  }

  /// The client id. The page shows it below the name, or in place of the name if the client has none.
  public var clientID: String
  /// The client's name in the policy or in its registration; `nil` if it has none.
  public var clientName: String?
  /// The host of the metadata document that describes the client, if the id of the client is the URL of such a document.
  public var documentHost: String?
  /// True if the client named itself, so that the page says that it calls itself so. If it has no name, the page shows
  /// none: its id is long and means nothing to a user.
  public var isSelfNamed: Bool
  /// The identity of the app.
  public var identity: Identity
  /// The destination of the authorization response.
  public var destination: RedirectDestination
  /// The scope values that the upstream gets.
  public var scopes: [String]
  /// The protected resource that the app wants to use; `nil` if the request names none.
  public var resource: Resource?
  /// The path on this origin to which the form posts.
  public var action: String
  /// The value of the hidden field: the sealed (encrypted and authenticated) authorization request. It is bound to the
  /// browser, so that another site cannot forge the user's decision (RFC 6749, section 10.12).
  public var token: String

  /// True if a metadata document describes the client, and any program on the device could have sent the request: the
  /// page then does not present the name as that of the document's owner.
  var isProgramOnDevice: Bool {
    guard documentHost != nil else { return false }
    if case .site = destination { return false }
    return true
  }

  /// Creates the content for one authorization request.
  public init(
    clientID: String, clientName: String? = nil, documentHost: String? = nil, isSelfNamed: Bool = false,
    identity: Identity, destination: RedirectDestination, scopes: [String], resource: Resource? = nil,
    action: String, token: String
  ) {
    self.clientID = clientID
    self.clientName = clientName
    self.documentHost = documentHost
    self.isSelfNamed = isSelfNamed
    self.identity = identity
    self.destination = destination
    self.scopes = scopes
    self.resource = resource
    self.action = action
    self.token = token
  }
}
