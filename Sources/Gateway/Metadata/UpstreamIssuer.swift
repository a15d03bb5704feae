/// The issuer that the upstream's metadata document names. It is also in the upstream's ID tokens, and clients refuse
/// tokens of another issuer than that of the gateway's document (OpenID Connect Core, section 3.1.3.7).
public enum UpstreamIssuer: Sendable, Equatable {
  /// The upstream has no document, or it was not read.
  case noDocument
  /// The document names no issuer, or the upstream issues no ID tokens, so that the issuer does not matter.
  case irrelevant
  /// The upstream issues ID tokens with this issuer.
  case idTokens(String)

  package init(_ document: UpstreamMetadata?) {
    guard let document else {
      self = .noDocument
      return
    }
    guard document.describesIDTokens, let issuer = document.issuer else {
      self = .irrelevant
      return
    }
    self = .idTokens(issuer)
  }

  /// Returns the problem for the operator; `nil` if ID tokens name this issuer, or if there are none.
  ///
  /// - Parameter issuer: The `gateway.issuer` of the policy.
  public func conflict(with issuer: String) -> String? {
    guard case .idTokens(let other) = self, other != issuer else { return nil }
    // The text of the upstream could contain control characters of a terminal.
    let isPrintable = other.utf8.count <= 256 && other.utf8.allSatisfy { 0x20 < $0 && $0 < 0x7f && $0 != 0x60 }
    return "ID tokens of the upstream name \(isPrintable ? "the issuer `\(other)`" : "another issuer"), but "
      + "`gateway.issuer` is `\(issuer)`, so clients refuse these tokens; make both equal, byte for byte"
  }
}
