internal import Bytes
import HTTP
import OAuth

/// The response of an upstream's token endpoint in the terms of RFC 6749, sections 5.1 and 5.2. Legacy servers send
/// forms, errors with status 200, and other member names.
enum UpstreamTokenResponse {
  case tokens([String: JSONValue])
  case error(OAuthErrorCode, description: String?)
  /// A response that a client cannot use.
  case unusable

  init(status: Int, headers: Headers, body: [UInt8]) {
    self = UpstreamTokenResponse.read(status: status, headers: headers, body: body, screen: nil).answer
  }

  /// Reads a response and removes what the client must not see.
  ///
  /// - Returns: The answer, and true if something was removed.
  static func read(
    status: Int, headers: Headers, body: [UInt8], screen: TokenResponseScreen?
  ) -> (answer: UpstreamTokenResponse, isScreened: Bool) {
    // A server that fails or is busy says nothing about the request, regardless of its body: a code or token that is
    // discarded because of it is lost (`I-failure`).
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
    guard let form = FormParameters(parsing: body), !form.hasMalformedName, form.malformedNames.isEmpty,
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

  /// Returns the error code for an upstream error (RFC 6749, section 5.2, RFC 8707, section 2, and the errors of OpenID
  /// Connect servers for a refresh). Other words that servers use for a bad code mean `invalid_grant`. An unknown word
  /// is a server failure, because it shows no fault of the client.
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

  /// Returns a scope list with spaces, as RFC 6749, section 3.3, requires, from one with commas.
  private static func scope(of list: String) -> String {
    let parts = list.utf8.split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") }
    return parts.map { String(Substring($0)) }.joined(separator: " ")
  }

  /// Adds the members that RFC 6749 requires, and converts numbers and lists to the form that it defines.
  private static func completed(_ members: [String: JSONValue]) -> [String: JSONValue] {
    var members = members
    if members["token_type"]?.text?.isEmpty ?? true { members["token_type"] = .string("Bearer") }
    if let seconds = members["expires_in"]?.text.flatMap(Int64.init) { members["expires_in"] = .integer(seconds) }
    if members["expires_in"] == nil, let seconds = members["expires"]?.text.flatMap(Int64.init) {
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
