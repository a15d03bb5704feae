import ByteText
import Cryptography

/// Values that no server can know, and that do not belong to a user or client.
enum ProbeValues {
  /// The reserved top-level domain has no hosts (RFC 2606), so no program can receive a response.
  static let foreignRedirectURI = "https://proofgate-probe.invalid/callback"
  /// A parameter that no server knows.
  static let unknownParameter = "proofgate_probe"

  /// Returns a text of this many random characters.
  static func text(_ count: Int) -> String {
    String(Base64URL.encode(randomBytes(count)).prefix(count))
  }
}
