internal import ByteText

/// The names of parameters whose values may be secrets, or are known not to be.
enum SecretNames {
  /// The maximum number of bytes of a name. A longer one may be a secret itself, e.g. in base64 with padding.
  static let maximumLength = 64

  /// Parts of names of secrets, in lower case, without punctuation: `token` is part of `access_token` and of
  /// `X-CSRF-Token`.
  private static let parts = [
    "token", "secret", "password", "passwd", "passphrase", "assertion", "credential", "session", "verifier",
    "challenge", "ticket", "signature", "apikey", "jwt", "saml", "nonce", "otp", "cookie", "authorization", "hash",
  ]
  /// Names that end with `code` and are not those of secrets, unlike `user_code` or `sms_code`.
  private static let plainCodes: Set<[UInt8]> = Set(
    [
      "zipcode", "postcode", "postalcode", "countrycode", "regioncode", "areacode", "currencycode", "langcode",
      "languagecode", "localecode", "errorcode", "statuscode", "responsecode", "productcode",
    ].map { Array($0.utf8) })
  /// Whole names of secrets, in the same form. Other names that end with `code` are secrets, too.
  private static let names: Set<[UInt8]> = Set(
    [
      "state", "relaystate", "request", "requesturi", "sid", "pin", "pwd", "pass", "auth", "sig", "key", "handle",
      "response", "login",
    ].map { Array($0.utf8) })
  /// The length of the shortest name or part. The encoded form of a name is not shorter.
  private static let minimumLength = min(names.map(\.count).min() ?? 0, parts.map(\.utf8.count).min() ?? 0)
  /// Names of the parameters of OAuth endpoints whose values are not secrets, exactly as they are written.
  private static let publicNames: Set<[UInt8]> = Set(
    [
      "client_id", "response_type", "response_mode", "redirect_uri", "scope", "grant_type", "code_challenge_method",
      "prompt", "display", "max_age", "ui_locales", "acr_values", "resource", "audience", "error", "iss",
      "token_type_hint", "access_type", "include_granted_scopes",
    ].map { Array($0.utf8) })

  /// Returns true if the name is exactly that of a parameter that is not a secret.
  static func isPublic(_ name: Span<UInt8>) -> Bool {
    publicNames.contains([UInt8](copying: name))
  }

  /// Returns true if the value of the parameter may be a secret. The name may be encoded, in any case, and in brackets
  /// (`login[password]`). An empty name is not that of a secret.
  static func mayBeSecret(_ name: Span<UInt8>) -> Bool {
    guard name.count <= maximumLength else { return true }
    if name.count < minimumLength { return false }
    guard name.contains(UInt8(ascii: "%")) else { return isListed(name) }
    let decoded = PercentDecoding.repeated(name)
    return isListed(decoded.span)
  }

  private static func isSecret(_ word: [UInt8]) -> Bool {
    names.contains(word) || word.suffix(4).elementsEqual("code".utf8) && !plainCodes.contains(word)
  }

  private static func isListed(_ name: Span<UInt8>) -> Bool {
    var word: [UInt8] = []
    var whole: [UInt8] = []
    for index in name.indices {
      let byte = name[index]
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "."), UInt8(ascii: ":"):
        if isSecret(word) { return true }
        word.removeAll(keepingCapacity: true)
      case _ where byte.isLetterOrDigit:
        word.append(byte.lowercasedASCII)
        whole.append(byte.lowercasedASCII)
      case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "$"), UInt8(ascii: "*"), .space:
        break
      // Some servers fold other characters into letters, or drop them.
      default: return true
      }
    }
    if isSecret(word) { return true }
    let text = whole.span
    return parts.contains { text.contains($0) }
  }
}
