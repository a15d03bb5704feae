internal import ByteText
import Enforcement
import HTTP
import JSON
import OAuth
import Policy

/// A response of the upstream's token endpoint, converted to the form of RFC 6749, sections 5.1 and 5.2. Some legacy
/// servers send form-encoded bodies, errors with status 200, or other member names.
enum UpstreamTokenResponse {
  /// The members of a successful response (RFC 6749, section 5.1).
  case tokens([String: JSONValue])
  case error(OAuthErrorCode, description: String?)
  /// A response without usable tokens and without an error code.
  case unusable(Defect)

  /// Why a response is unusable; the raw value is the finding in the decision log.
  enum Defect: String {
    /// The status says nothing about the request, or is no success, and the body names no error.
    case status = "answer-status"
    /// The body is neither a JSON object nor a form.
    case syntax = "answer-not-json"
    case lacksAccessToken = "answer-lacks-access_token"
    /// The access token or the refresh token is not a text, or its bytes are not UTF-8.
    case tokenType = "answer-token-not-text"
  }

  init(status: Int, headers: Headers, body: [UInt8]) {
    self = UpstreamTokenResponse.read(status: status, headers: headers, body: body, screen: nil).answer
  }

  /// Reads a response. If `screen` is not `nil`, the values that the client must not see are removed. The errors of RFC
  /// 8628, section 3.5, are only kept if the request was the poll of a device.
  ///
  /// - Parameter errors: The operator's errors. That of the status counts if no word of the body is known.
  /// - Returns: The converted response, and true if the screen changed it.
  static func read(
    status: Int, headers: Headers, body: [UInt8], screen: TokenResponseScreen?,
    errors: UpstreamErrors = UpstreamErrors(), isDevicePoll: Bool = false
  ) -> (answer: UpstreamTokenResponse, isScreened: Bool) {
    // Other statuses, such as 429 and 500, say nothing about the request, so the body is ignored. An error in it could make
    // the client discard a valid code or token, and the user would have to sign in again (`I-failure`).
    let isSuccess = hasResult(status)
    let isOfClient = (400..<500).contains(status) && status != 429
    guard isSuccess || isOfClient || (status == 500 && !errors.isEmpty) else { return (.unusable(.status), false) }
    let errorOfStatus = errors.byStatus[status].map { UpstreamTokenResponse.error($0, description: nil) }
    guard var members = UpstreamTokenResponse.members(headers, body, errors) else {
      return (errorOfStatus ?? .unusable(isSuccess ? .syntax : .status), false)
    }
    let isScreened = screen?.screen(&members) ?? false
    if let error = UpstreamTokenError(members, mapped: errors.words, isDevicePoll: isDevicePoll) {
      if !error.isKnown, let errorOfStatus { return (errorOfStatus, isScreened) }
      guard isSuccess || error.isCredible(withStatus: status) else { return (.unusable(.status), isScreened) }
      return (.error(error.code, description: error.description.map { ErrorDescription.sanitised($0) }), isScreened)
    }
    guard isSuccess else { return (errorOfStatus ?? .unusable(.status), isScreened) }
    guard let token = members["access_token"], token != .null else { return (.unusable(.lacksAccessToken), isScreened) }
    guard token != .string("") else { return (.unusable(.lacksAccessToken), isScreened) }
    guard isText(token), members["refresh_token"]?.text.map({ isText(.string($0)) }) ?? true else {
      return (.unusable(.tokenType), isScreened)
    }
    return (.tokens(normalised(members)), isScreened)
  }

  /// True if the content of a response with this status is the whole result of the request (RFC 9110, section 15.3). A
  /// response with 204 or 205 has no content, and 206 has a part of one. The other codes of success are those of WebDAV
  /// and of differences between versions, for which the gateway does not ask.
  static func hasResult(_ status: Int) -> Bool { (200...203).contains(status) }

  /// True if the status says that the server has done what a request without a result asks for, such as a revocation.
  static func isDone(_ status: Int) -> Bool { (200...205).contains(status) }

  private static func members(
    _ headers: Headers, _ body: [UInt8], _ errors: UpstreamErrors
  ) -> [String: JSONValue]? {
    var isJSON = body.first { $0 > 0x20 } == UInt8(ascii: "{")
    if !isJSON {
      let type = (headers["Content-Type"] ?? "").utf8.map(\.lowercasedASCII)
      isJSON = type.span.contains("json")
    }
    if isJSON { return JSONValue.members(of: body) }
    guard let form = FormParameters(parsing: body), !form.hasMalformedName, form.namesWithMalformedValue.isEmpty,
      form.firstRepeatedName == nil
    else { return nil }
    // A text with nothing but the word, such as `invalid_grant`, is read as one name without a value.
    if let word = form.entries.first, form.entries.count == 1, word.value.isEmpty,
      errors.words[word.name] != nil || UpstreamTokenError.isKnown(word.name)
    {
      return ["error": .string(word.name)]
    }
    var members: [String: JSONValue] = [:]
    for entry in form.entries { members[entry.name] = .string(entry.value) }
    return members
  }

  /// The maximum length in bytes of a list of scopes that is converted.
  private static let longestScope = 8_192

  private static func isEmpty(_ value: JSONValue) -> Bool {
    switch value {
    case .null: true
    case .string(let text): text.isEmpty
    case .bool, .integer, .number, .array, .object: false
    }
  }

  /// True for a text whose bytes were UTF-8.
  private static func isText(_ value: JSONValue) -> Bool {
    value.text.map { !$0.utf8.span.contains("\u{fffd}") } ?? false
  }

  /// Returns a comma-separated scope list as a space-separated list (RFC 6749, section 3.3).
  private static func scope(of list: String) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(list.utf8.count)
    for byte in list.utf8 {
      if byte != UInt8(ascii: ","), byte != .space {
        text.append(byte)
      } else if let last = text.last, last != .space {
        text.append(.space)
      }
    }
    if text.last == .space { text.removeLast() }
    return String(decoding: text, as: UTF8.self)
  }

  /// Converts `expires_in` (or the nonstandard `expires`) and `scope` to the form that RFC 6749, section 5.1, defines,
  /// adds a missing `token_type`, and removes an empty `refresh_token` and errors without a value: some clients take any
  /// `error` for a failure.
  private static func normalised(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var members = members
    if members.contains(where: { isEmpty($0.value) }) {
      for name in ["refresh_token", "error", "error_description", "error_uri"] where members[name].map(isEmpty) ?? false
      {
        members[name] = nil
      }
    }
    if members["token_type"]?.text?.isEmpty ?? true { members["token_type"] = .string("Bearer") }
    if let lifetime = members["expires_in"] {
      if let seconds = lifetime.text.flatMap(Int64.init) { members["expires_in"] = .integer(seconds) }
    } else if let seconds = members["expires"]?.text.flatMap(Int64.init) {
      members["expires_in"] = .integer(seconds)
    }
    switch members["scope"] {
    // A longer list is no scope (`Scope`), and stays as it is.
    case .string(let text)
    where text.utf8.count <= UpstreamTokenResponse.longestScope && text.utf8.span.contains(UInt8(ascii: ",")):
      members["scope"] = .string(scope(of: text))
    case .array(let scopes):
      members["scope"] = .string(scopes.compactMap(\.text).joined(separator: " "))
    default: break
    }
    return members
  }
}

/// Removes the values that the client must not see from an upstream response to a request of the gateway
/// (`I-credentials`).
///
/// Some legacy servers repeat the code or the secret in error messages, and some return refresh tokens in nonstandard
/// members. Such a refresh token would reach the client unsealed: any program could use it without the gateway. The ID
/// token and the members of RFC 6749, section 5.1, pass unchanged, with two exceptions if the gateway will seal the
/// refresh token:
///
/// - `refresh_token` must be a string: a whole number is converted to a string, and a value of another type is removed.
/// - Any other of these members is removed if its value is the refresh token. The exception is `access_token`, because
///   the client cannot use a response without it.
struct TokenResponseScreen {
  /// The minimum length, in bytes, of a refresh token that is searched for in parts of texts and in numbers. A shorter
  /// one could occur there by chance, so only a text that is equal to it is masked.
  private static let minimumSearchedLength = 8

  private let request: UpstreamTokenRequest
  private var sealsRefreshToken: Bool { request.sealsRefreshToken }

  init(_ request: UpstreamTokenRequest) {
    self.request = request
  }

  /// Removes or masks members in place.
  ///
  /// - Returns: True if a member was changed or removed. The conversion of a refresh token from a number to a string
  ///   does not count, nor does the removal of a refresh token that is `null`.
  func screen(_ members: inout [String: JSONValue]) -> Bool {
    var isChanged = false
    var refreshToken: String?
    // The strings in a `refresh_token` that is an array or an object.
    var nestedStrings: [String] = []
    if sealsRefreshToken, let token = members["refresh_token"] {
      let text = TokenResponseScreen.tokenText(token)
      // Nearly all servers send a string, which stays as it is.
      if token.text == nil { members["refresh_token"] = text.map(JSONValue.string) }
      isChanged = text == nil && token != .null
      if let text, !text.isEmpty { refreshToken = text }
      if text == nil { nestedStrings = TokenResponseScreen.strings(in: token) }
    }
    // The members that may contain a hidden text. Most responses have none, and need no search.
    let membersToSearch = members.filter { name, value in
      name != "refresh_token"
        && !(TokenResponseScreen.isStandard(name)
          && TokenResponseScreen.passes(name, value, refreshToken: refreshToken, nestedStrings: nestedStrings))
    }
    guard !membersToSearch.isEmpty else { return isChanged }
    let refreshTokens = refreshToken.map { nestedStrings + [$0] } ?? nestedStrings
    let searched = refreshTokens.filter { $0.utf8.count >= TokenResponseScreen.minimumSearchedLength }
    let memberScreen = MemberScreen(
      hiding: request.hiddenTexts.map { $0.reveal() } + searched, refreshTokens: refreshTokens,
      sealsRefreshToken: sealsRefreshToken)
    for (name, value) in membersToSearch {
      let screened = memberScreen.screened(name, value)
      guard screened != value else { continue }
      // A standard member is removed, because the mask would be a wrong value for it.
      members[name] = TokenResponseScreen.isStandard(name) ? nil : screened
      isChanged = true
    }
    return isChanged
  }

  /// Returns true if a standard member passes unchanged, because its value is neither the refresh token nor one of the
  /// strings in a `refresh_token` that is an array or an object. Returns false if the value of the member is itself an
  /// array or object, which may contain the refresh token. An `access_token` always passes.
  private static func passes(
    _ name: String, _ value: JSONValue, refreshToken: String?, nestedStrings: [String]
  ) -> Bool {
    guard refreshToken != nil || !nestedStrings.isEmpty, name != "access_token" else { return true }
    return switch value {
    case .string(let text): text != refreshToken && !nestedStrings.contains(text)
    case .integer(let number): String(number) != refreshToken
    case .null, .bool, .number: true
    case .array, .object: false
    }
  }

  /// Returns the strings in a `refresh_token` that is an array or an object. Short strings are left out, because they
  /// could occur elsewhere by chance.
  private static func strings(in token: JSONValue) -> [String] {
    switch token {
    case .string(let text): text.utf8.count >= minimumSearchedLength ? [text] : []
    case .array(let values): values.flatMap(strings)
    case .object(let members): members.values.flatMap(strings)
    case .null, .bool, .integer, .number: []
    }
  }

  /// Returns true for the ID token and the members of RFC 6749, section 5.1, except `refresh_token`. This is a
  /// `switch`, because comparing short names takes a tenth of the time of a look-up in a set.
  private static func isStandard(_ name: String) -> Bool {
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

/// Masks hidden texts in the members of a token response, and removes members that may contain a secret.
private struct MemberScreen {
  private static let mask = "***"

  /// The texts that are masked wherever they occur.
  private let hidden: [String]
  /// A string is masked if the whole string is equal to one of these texts. They may be too short for `hidden`.
  private let refreshTokens: [String]
  private let sealsRefreshToken: Bool

  init(hiding texts: [String], refreshTokens: [String], sealsRefreshToken: Bool) {
    hidden = MemberScreen.spellings(of: texts)
    self.refreshTokens = refreshTokens
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
    // The name itself contains a hidden text.
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
    case .string(let text): .string(refreshTokens.contains(text) ? MemberScreen.mask : mask(text))
    case .array(let values): .array(values.map(screened))
    case .object(let members):
      .object(
        members.reduce(into: [:]) { result, member in result[member.key] = screened(member.key, member.value) })
    }
  }

  /// Returns the text with each hidden text replaced by `***`.
  private func mask(_ text: String) -> String {
    hidden.reduce(text) { text, secret in
      text.utf8.span.contains(secret) ? MemberScreen.replacing(secret.utf8.span, in: text.utf8.span) : text
    }
  }

  private static func replacing(_ secret: Span<UInt8>, in text: Span<UInt8>) -> String {
    var result: [UInt8] = []
    var start = 0
    var next = text.firstIndex(of: secret[0])
    while let found = next, found + secret.count <= text.count {
      let isSecret = text.extracting(found..<found + secret.count).isEqual(to: secret)
      if isSecret {
        result.append(copying: text.extracting(start..<found))
        result.append(mask)
        start = found + secret.count
      }
      next = text.firstIndex(of: secret[0], from: isSecret ? start : found + 1)
    }
    result.append(copying: text.extracting(start..<text.count))
    return String(decoding: result, as: UTF8.self)
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
