/// The question on the gateway's consent page (`I-consent`; RFC 8252, section 8.6; RFC 6819, section 5.2.3.2).
public struct ConsentPage: Sendable {
  /// The form fields that the page posts back.
  public enum Field {
    /// The hidden field with the sealed token of the page.
    public static let token = "consent_token"
    /// The field with the user's decision, ``approve`` or ``deny``.
    public static let decision = "decision"
    /// The value of ``decision`` of the button that allows.
    public static let approve = "approve"
    /// The value of ``decision`` of the button that denies.
    public static let deny = "deny"
  }

  /// The client id, shown in place of a name that is missing, or next to the name.
  public var clientID: String
  /// The client's name from the policy or the registration.
  public var clientName: String?
  /// True if the identity of the app is proven, by its secret or by a claimed https redirect URI.
  public var isProven: Bool
  /// The destination of the authorization response.
  public var destination: RedirectDestination
  /// The requested scopes, one value each.
  public var scopes: [String]
  /// The path on this origin to which the form posts.
  public var action: String
  /// The sealed token that ties the decision to the browser (RFC 6749, section 10.12).
  public var token: String

  /// Creates the question about one authorization request.
  public init(
    clientID: String, clientName: String? = nil, isProven: Bool, destination: RedirectDestination, scopes: [String],
    action: String, token: String
  ) {
    self.clientID = clientID
    self.clientName = clientName
    self.isProven = isProven
    self.destination = destination
    self.scopes = scopes
    self.action = action
    self.token = token
  }
}
