import ByteText
import Cryptography

extension HTML {
  /// The hash source that permits the content of a `style` or `script` element in a content security policy: the SHA-256
  /// digest in base64 with padding (Content Security Policy Level 3, section 2.3.1).
  public var hashSource: String { "'sha256-\(Base64.encode(sha256(utf8)))'" }
}
