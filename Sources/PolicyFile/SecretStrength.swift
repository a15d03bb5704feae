internal import ByteText
import OAuth

/// An upper bound of the entropy of a secret, from its length and the kinds of characters in it.
enum SecretStrength {
  /// The required entropy, in bits. With fewer bits, guesses at the token endpoint could succeed (RFC 6749, section
  /// 10.10).
  static let requiredBits = 128.0

  /// Returns the entropy, in bits, of a random text with the length and the alphabet of the secret. If the number of
  /// different characters is at most an eighth of the length, the result is one bit for each character.
  static func bits(of secret: Secret) -> Double {
    let bytes = Array(secret.reveal().utf8)
    return Double(bytes.count) * bitsPerCharacter(of: bytes)
  }

  private static func bitsPerCharacter(of bytes: [UInt8]) -> Double {
    // A text with few distinct characters is not random.
    guard Set(bytes).count > bytes.count / 8 else { return 1 }
    // These are the base-2 logarithms of 10, 16, 26, 36, 64 and 94.
    if bytes.allSatisfy(\.isDigit) { return 3.32 }
    if bytes.allSatisfy({ $0.isDigit || 0x61...0x66 ~= $0 }) { return 4 }
    if bytes.allSatisfy({ $0.isDigit || 0x41...0x46 ~= $0 }) { return 4 }
    if bytes.allSatisfy(\.isLowercaseLetter) || bytes.allSatisfy(\.isUppercaseLetter) { return 4.7 }
    if bytes.allSatisfy({ $0.isDigit || $0.isLowercaseLetter }) { return 5.17 }
    let isBase64 = bytes.allSatisfy { byte in
      byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }
    return isBase64 ? 6 : 6.55
  }
}
