internal import ByteText
import Enforcement
import OAuth

/// Removes the values that the client must not see from an upstream response to a request of the gateway
/// (`I-credentials`).
///
/// Some legacy servers repeat the code or the secret in error messages, and some return refresh tokens in nonstandard
/// members. Such a refresh token would reach the client unsealed: any program could use it without the gateway. The ID
/// token and the members of RFC 6749, section 5.1, pass unchanged, except a refresh token that is neither a string nor
/// a whole number.
struct TokenResponseScreen {
  /// The minimum length, in bytes, of a refresh token that is searched for in other members. A shorter text could occur
  /// by chance.
  private static let minimumSearchedLength = 8

  private let request: UpstreamTokenRequest
  private var sealsRefreshToken: Bool { request.sealsRefreshToken }

  init(_ request: UpstreamTokenRequest) {
    self.request = request
  }

  /// Removes or masks members in place.
  ///
  /// - Returns: True if a member was changed or removed. A refresh token that is only converted from a number to a
  ///   string, or a null one that is removed, does not count.
  func screen(_ members: inout [String: JSONValue]) -> Bool {
    var isChanged = false
    var refreshToken: String?
    if sealsRefreshToken, let token = members["refresh_token"] {
      let text = TokenResponseScreen.tokenText(token)
      // Nearly all servers send a string, which stays as it is.
      if token.text == nil { members["refresh_token"] = text.map(JSONValue.string) }
      isChanged = text == nil && token != .null
      if let text, text.utf8.count >= TokenResponseScreen.minimumSearchedLength { refreshToken = text }
    }
    // Most responses have no other member, so the texts and their spellings are not computed.
    let others = members.keys.filter { !TokenResponseScreen.isKnown($0) && $0 != "refresh_token" }
    guard !others.isEmpty else { return isChanged }
    let texts = request.hidden.map { $0.reveal() }
    let screen = MemberScreen(
      hiding: refreshToken.map { texts + [$0] } ?? texts, sealsRefreshToken: sealsRefreshToken)
    for name in others {
      let value = members[name]
      let screened = value.flatMap { screen.screened(name, $0) }
      guard screened != value else { continue }
      members[name] = screened
      isChanged = true
    }
    return isChanged
  }

  /// Returns true for the members that pass unchanged. Comparing short names takes a tenth of the time of a look-up in a
  /// set.
  private static func isKnown(_ name: String) -> Bool {
    switch name {
    case "access_token", "token_type", "expires_in", "scope", "id_token": true
    default: false
    }
  }

  /// Returns a refresh token as text. Some servers send a whole number. Returns `nil` for any other type.
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

  /// Returns the text with each hidden text replaced by `***`.
  private func mask(_ text: String) -> String {
    hidden.reduce(text) { text, secret in
      text.utf8.span.contains(secret) ? text.replacing(secret, with: MemberScreen.mask) : text
    }
  }

  // MARK: Names

  private static func letters(_ name: String) -> String {
    String(decoding: name.lowercased().utf8.filter(\.isLowercaseLetter), as: UTF8.self)
  }

  private static func isSecretName(_ name: String) -> Bool { letters(name).hasSuffix("clientsecret") }

  /// Returns true for names such as `refreshToken`, `Refresh_Token`, `refresh`, `rt` and `offline_token`.
  private static func isRefreshTokenName(_ name: String) -> Bool {
    let letters = letters(name)
    return letters == "rt" || letters.utf8.span.contains("refresh") || letters.utf8.span.contains("offlinetoken")
  }

  /// Returns true for a member such as `refresh_expires_in` whose value is null, a number, or a string of at most ten
  /// digits, so it cannot be a token.
  private static func isLifetime(_ name: String, _ value: JSONValue) -> Bool {
    let letters = letters(name)
    let isTime = ["expires", "expiresin", "expiresat", "expiry", "lifetime", "validity", "ttl"].contains {
      letters.hasSuffix($0)
    }
    guard isTime else { return false }
    return switch value {
    case .integer, .number, .null: true
    case .string(let text): text.utf8.count <= 10 && text.utf8.allSatisfy(\.isDigit)
    case .bool, .array, .object: false
    }
  }
}
