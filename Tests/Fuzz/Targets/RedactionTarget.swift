import AccessLog

/// Input: a form, a name, a number of encodings, then the text around a secret. The access log never contains the value of
/// a parameter with the name of a secret; a text that has been redacted stays as it is.
enum RedactionTarget {
  private static let secret = "5ecretva1ue"
  private static let names = [
    "code", "state", "access_token", "client_secret", "Password", "SAMLResponse", "login[password]", "jsessionid",
    "X-CSRF-Token", "code_verifier",
  ]

  /// The parts of a URL that are redacted.
  private enum Form: UInt8, CaseIterable {
    case query, endpointQuery, path, referer
  }

  static func check(_ input: [UInt8]) throws(Violation) {
    guard input.count >= 3 else { return }
    let form = Form.allCases[Int(input[0]) % Form.allCases.count]
    let name = names[Int(input[1]) % names.count]
    let rest = input.dropFirst(3)
    let around = rest.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard !rest.contains(secret.utf8) else { return }
    let separator: [UInt8] = form == .path ? [UInt8(ascii: ";")] : [UInt8(ascii: "&")]
    var parameter = Array("\(name)=\(secret)".utf8)
    // As the value of another parameter, encoded up to twice.
    let encodings = Int(input[2]) % 3
    for _ in 0..<encodings { parameter = encoded(parameter) }
    if encodings > 0 { parameter = Array("next=".utf8) + parameter }
    let opening: [UInt8] = form == .referer ? [UInt8(ascii: "?")] : []
    let text = opening + (around.first ?? []) + separator + parameter + separator + (around.dropFirst().first ?? [])

    let once = redacted(text, form)
    try Violation.unless(!once.contains(secret.utf8), "a secret is in the log")
    try Violation.unless(redacted(once, form) == once, "a redacted text changes when it is redacted again")
    _ = redacted(Array(rest), form)
  }

  private static func redacted(_ text: [UInt8], _ form: Form) -> [UInt8] {
    var bytes: [UInt8] = []
    switch form {
    case .query: SecretRedaction.append(query: text.span, isEndpoint: false, to: &bytes)
    case .endpointQuery: SecretRedaction.append(query: text.span, isEndpoint: true, to: &bytes)
    case .path: SecretRedaction.append(path: text.span, to: &bytes)
    case .referer: SecretRedaction.append(referer: text.span, to: &bytes)
    }
    return bytes
  }

  /// Every byte that is not a letter or digit in percent-encoding.
  private static func encoded(_ text: [UInt8]) -> [UInt8] {
    text.flatMap { byte -> [UInt8] in
      guard !(48...57).contains(byte), !(65...90).contains(byte), !(97...122).contains(byte) else { return [byte] }
      let digits = String(byte, radix: 16, uppercase: true)
      return Array("%\(digits.count < 2 ? "0" : "")\(digits)".utf8)
    }
  }
}
