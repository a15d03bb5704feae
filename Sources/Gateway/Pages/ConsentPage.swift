/// The question on the gateway's consent page (`I-consent`; RFC 8252, section 8.6; RFC 6819, section 5.2.3.2).
public struct ConsentPage: Sendable {
  /// The form fields that the page posts back.
  public enum Field {
    public static let token = "consent_token"
    public static let decision = "decision"
    /// The values of ``decision``.
    public static let approve = "approve"
    public static let deny = "deny"
  }

  public var clientID: String
  /// The name from the policy or the registration.
  public var clientName: String?
  /// True if the identity of the app is proven, by its secret or by a claimed https redirect URI.
  public var isProven: Bool
  public var destination: RedirectDestination
  public var scopes: [String]
  /// A path on this origin.
  public var action: String
  /// Ties the answer to the browser (RFC 6749, section 10.12).
  public var token: String

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
