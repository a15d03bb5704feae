internal import ByteText
import HTTP
import OAuth

/// A response of the upstream's token endpoint, converted to the form of RFC 6749, sections 5.1 and 5.2. Some legacy
/// servers send form-encoded bodies, errors with status 200, or other member names.
enum UpstreamTokenResponse {
  case tokens([String: JSONValue])
  case error(OAuthErrorCode, description: String?)
  /// A response that is neither usable tokens nor an error code.
  case unusable

  init(status: Int, headers: Headers, body: [UInt8]) {
    self = UpstreamTokenResponse.read(status: status, headers: headers, body: body, screen: nil).answer
  }

  /// Reads a response and, with a screen, removes the values that the client must not see.
  ///
  /// - Returns: The converted response, and true if the screen changed it.
  static func read(
    status: Int, headers: Headers, body: [UInt8], screen: TokenResponseScreen?
  ) -> (answer: UpstreamTokenResponse, isScreened: Bool) {
    // Statuses of 500 and above and 429 say nothing about the request, so the body is ignored. If it made the client
    // discard a valid code or token, the user would have to sign in again (`I-failure`).
    guard status < 500, status != 429, var members = UpstreamTokenResponse.members(headers, body) else {
      return (.unusable, false)
    }
    let isScreened = screen?.screen(&members) ?? false
    if let error = UpstreamTokenResponse.error(members) { return (error, isScreened) }
    let hasTokens = (200..<300).contains(status) && members["access_token"]?.text.map { !$0.isEmpty } ?? false
    return (hasTokens ? .tokens(completed(members)) : .unusable, isScreened)
  }

  private static func members(_ headers: Headers, _ body: [UInt8]) -> [String: JSONValue]? {
    let type = (headers["Content-Type"] ?? "").lowercased()
    if type.utf8.span.contains("json") || body.first(where: { $0 > 0x20 }) == UInt8(ascii: "{") {
      return JSONValue.members(of: body)
    }
    guard let form = FormParameters(parsing: body), !form.hasMalformedName, form.namesWithMalformedValue.isEmpty,
      form.firstRepeated == nil
    else { return nil }
    var members: [String: JSONValue] = [:]
    for entry in form.entries { members[entry.name] = .string(entry.value) }
    return members
  }

  private static func error(_ members: [String: JSONValue]) -> UpstreamTokenResponse? {
    guard let text = (members["error"] ?? members["error_code"] ?? members["error_message"])?.text, !text.isEmpty
    else { return nil }
    let description = (members["error_description"] ?? members["error_message"])?.text
    return .error(code(text), description: description.map { ErrorDescription.sanitised($0) })
  }

  /// Returns the error code for an upstream error. The codes of RFC 6749, section 5.2, of RFC 8707, section 2, and
  /// those that OpenID Connect servers send for a refresh are kept. Other words for a bad code or token become
  /// `invalid_grant`. An unknown word becomes `server_error`, because it does not show a fault of the client.
  private static func code(_ text: String) -> OAuthErrorCode {
    switch text {
    case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
      "invalid_scope", "invalid_target", "interaction_required", "login_required", "consent_required":
      OAuthErrorCode(rawValue: text) ?? .serverError
    case "invalid_code", "expired_code", "bad_verification_code", "expired_token", "invalid_token": .invalidGrant
    case "temporarily_unavailable": .temporarilyUnavailable
    default: .serverError
    }
  }

  /// Returns a comma-separated scope list as a space-separated list (RFC 6749, section 3.3).
  private static func scope(of list: String) -> String {
    let parts = list.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
    return parts.map { String(Substring($0)) }.joined(separator: " ")
  }

  /// Converts `expires_in` (or the nonstandard `expires`) and `scope` to the form that RFC 6749, section 5.1, defines,
  /// and adds a missing `token_type`.
  private static func completed(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var members = members
    if members["token_type"]?.text?.isEmpty ?? true { members["token_type"] = .string("Bearer") }
    if let lifetime = members["expires_in"] {
      if let seconds = lifetime.text.flatMap(Int64.init) { members["expires_in"] = .integer(seconds) }
    } else if let seconds = members["expires"]?.text.flatMap(Int64.init) {
      members["expires_in"] = .integer(seconds)
    }
    switch members["scope"] {
    case .string(let text) where text.utf8.span.contains(UInt8(ascii: ",")):
      members["scope"] = .string(scope(of: text))
    case .array(let scopes):
      members["scope"] = .string(scopes.compactMap(\.text).joined(separator: " "))
    default: break
    }
    return members
  }
}
