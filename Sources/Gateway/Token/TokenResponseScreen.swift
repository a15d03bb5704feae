internal import Bytes
import Enforcement
import OAuth

/// Removes from an upstream response to a gateway request what the client must not see (`I-credentials`).
///
/// Legacy servers repeat the code or the secret in error messages, and some return refresh tokens in nonstandard
/// members. Such a refresh token would not be sealed to its client. The members of RFC 6749, section 5.1, and the ID
/// token pass.
struct TokenResponseScreen {
  private static let known: Set<String> = ["access_token", "token_type", "expires_in", "scope", "id_token"]
  /// The shortest refresh token, in bytes, that is searched for in other members.
  private static let leastSearched = 8

  private let texts: [String]
  private let sealsRefreshToken: Bool

  init(_ request: UpstreamTokenRequest) {
    texts = request.hidden.map { $0.reveal() }
    sealsRefreshToken = request.sealsRefreshToken
  }

  /// Removes members in place.
  ///
  /// - Returns: True if a member was changed or removed.
  func screen(_ members: inout [String: JSONValue]) -> Bool {
    var isChanged = false
    var texts = texts
    if sealsRefreshToken, let token = members["refresh_token"] {
      let text = TokenResponseScreen.tokenText(token)
      members["refresh_token"] = text.map(JSONValue.string)
      isChanged = text == nil && token != .null
      if let text, text.utf8.count >= TokenResponseScreen.leastSearched { texts.append(text) }
    }
    // Most responses have no other member, so the spellings of the texts are not computed.
    let others = members.keys.filter { !TokenResponseScreen.known.contains($0) && $0 != "refresh_token" }
    guard !others.isEmpty else { return isChanged }
    let screen = MemberScreen(hiding: texts, sealsRefreshToken: sealsRefreshToken)
    for name in others {
      let value = members[name]
      let screened = value.flatMap { screen.screened(name, $0) }
      guard screened != value else { continue }
      members[name] = screened
      isChanged = true
    }
    return isChanged
  }

  /// Returns a refresh token as text; some servers use a number.
  private static func tokenText(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text
    case .integer(let number): String(number)
    case .null, .bool, .number, .array, .object: nil
    }
  }
}

/// Screens the members that RFC 6749 does not define.
private struct MemberScreen {
  private static let mask = "***"

  private let hidden: [String]
  private let sealsRefreshToken: Bool

  init(hiding texts: [String], sealsRefreshToken: Bool) {
    hidden = MemberScreen.spellings(of: texts)
    self.sealsRefreshToken = sealsRefreshToken
  }

  /// Returns the texts and their form-encoded spellings, the longest first.
  private static func spellings(of texts: [String]) -> [String] {
    let all = Set(texts + texts.map { FormEncoding.encode($0) }).filter { !$0.isEmpty }
    return all.sorted { $0.utf8.count > $1.utf8.count }
  }

  // MARK: Values

  /// Returns the value that may be sent under a name, or `nil` if the member must be dropped.
  func screened(_ name: String, _ value: JSONValue) -> JSONValue? {
    guard mask(name) == name else { return nil }
    if MemberScreen.isSecretName(name) { return nil }
    if sealsRefreshToken, MemberScreen.isRefreshTokenName(name), !MemberScreen.isLifetime(name, value) { return nil }
    return screened(value)
  }

  private func screened(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool: value
    case .integer(let number): hidden.contains(String(number)) ? .string(MemberScreen.mask) : value
    case .number: value
    case .string(let text): .string(mask(text))
    case .array(let values): .array(values.map(screened))
    case .object(let members):
      .object(
        members.reduce(into: [:]) { result, member in result[member.key] = screened(member.key, member.value) })
    }
  }

  /// Returns the text with each hidden text replaced.
  private func mask(_ text: String) -> String {
    hidden.reduce(text) { text, secret in
      text.utf8.span.contains(secret) ? text.replacing(secret, with: MemberScreen.mask) : text
    }
  }

  // MARK: Names

  private static func letters(_ name: String) -> String {
    String(decoding: name.lowercased().utf8.filter { 0x61...0x7a ~= $0 }, as: UTF8.self)
  }

  private static func isSecretName(_ name: String) -> Bool { letters(name).hasSuffix("clientsecret") }

  /// Returns true for `refreshToken`, `Refresh_Token`, `refresh`, `rt`, `offline_token` and the like.
  private static func isRefreshTokenName(_ name: String) -> Bool {
    let letters = letters(name)
    return letters == "rt" || letters.utf8.span.contains("refresh") || letters.utf8.span.contains("offlinetoken")
  }

  /// Returns true for a member such as `refresh_expires_in`, which is a number or a date and cannot be a token.
  private static func isLifetime(_ name: String, _ value: JSONValue) -> Bool {
    let letters = letters(name)
    let isTime = ["expires", "expiresin", "expiresat", "expiry", "lifetime", "validity", "ttl"].contains {
      letters.hasSuffix($0)
    }
    guard isTime else { return false }
    return switch value {
    case .integer, .number, .null: true
    case .string(let text): text.utf8.count <= 10 && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    case .bool, .array, .object: false
    }
  }
}
