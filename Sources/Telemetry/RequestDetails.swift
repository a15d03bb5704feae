/// The part of a decision-log line that describes the request: the values on which rules decide, without secrets. The
/// commands `proofgate learn`, `readiness`, `explain` and `diff` read it.
///
/// The texts come from the request, and a text of more than 256 bytes is cut. No text is a secret: a redirect URI is
/// logged without query, fragment and loopback port, and a code only as a digest.
public struct RequestDetails: Sendable {
  /// The number of bytes after which a text of the request is cut.
  static let maximumLength = 256

  /// The redirect URI without query, fragment and loopback port.
  public var redirectURI: String?
  /// The `response_type` parameter.
  public var responseType: String?
  /// The `grant_type` parameter of an observed request; `other` for an unknown grant type. The grant of an enforced
  /// request is a member of its record.
  public var grant: String?
  /// The method of client authentication: `basic`, `post`, `assertion` or `none`.
  public var clientAuthentication: String?
  /// The use of PKCE: `S256`, `plain`, `other` or `none` at the authorization endpoint; `verifier` or `none` at the
  /// token endpoint.
  public var pkce: String?
  /// The `scope` parameter.
  public var scope: String?
  /// In observe mode, the id that the line of an authorization request and the line of its authorization response have in common.
  public var flow: String?
  /// In observe mode, the digest of the code, which links an authorization response to the redemption of its code.
  public var codeDigest: String?
  /// In observe mode, true if this process knows the authorization request that led to the code.
  public var isLinked: Bool?

  /// Creates an empty description.
  public init() {}

  /// Appends the members that are set.
  func write(to lines: inout JSONLines) {
    // A list of the members would be allocated, and each text retained, for every line.
    if let redirectURI { lines.appendMember("redirect_uri", RequestDetails.cut(redirectURI)) }
    if let responseType { lines.appendMember("response_type", RequestDetails.cut(responseType)) }
    if let grant { lines.appendMember("grant", RequestDetails.cut(grant)) }
    if let clientAuthentication { lines.appendMember("client_authentication", clientAuthentication) }
    if let pkce { lines.appendMember("pkce", pkce) }
    if let scope { lines.appendMember("scope", RequestDetails.cut(scope)) }
    if let flow { lines.appendMember("flow", flow) }
    if let codeDigest { lines.appendMember("code", codeDigest) }
    if let isLinked { lines.appendMember("linked", isLinked) }
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > maximumLength else { return text }
    return String(decoding: text.utf8.prefix(maximumLength), as: UTF8.self) + "..."
  }
}
