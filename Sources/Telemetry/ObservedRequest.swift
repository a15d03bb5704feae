/// What the decision log says about an observed request: what `proofgate learn` and `proofgate readiness` read.
///
/// Texts come from the request. Each is cut, and none is a secret: of a redirect URI without query, fragment and loopback
/// port, of a code only a digest.
public struct ObservedRequest: Sendable {
  /// Bytes of a text of the request.
  static let maximumLength = 256

  public var redirectURI: String?
  public var responseType: String?
  public var grant: String?
  /// `basic`, `post`, `assertion` or `none`.
  public var clientAuthentication: String?
  /// At the authorization endpoint `S256`, `plain`, `other` or `none`; at the token endpoint `verifier` or `none`.
  public var pkce: String?
  public var scope: String?
  /// Links an authorization request and the answer to it.
  public var flow: String?
  /// Links an answer and the redemption of its code.
  public var code: String?
  /// True if the authorization request behind the code is known here.
  public var isLinked: Bool?

  public init() {}

  func write(to line: inout JSONLine) {
    let texts = [
      ("redirect_uri", redirectURI), ("response_type", responseType), ("grant", grant),
      ("client_authentication", clientAuthentication), ("pkce", pkce), ("scope", scope), ("flow", flow), ("code", code),
    ]
    for (name, text) in texts {
      if let text { line.field(name, ObservedRequest.cut(text)) }
    }
    if let isLinked { line.field("linked", isLinked) }
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > maximumLength else { return text }
    return String(decoding: text.utf8.prefix(maximumLength), as: UTF8.self) + "..."
  }
}
