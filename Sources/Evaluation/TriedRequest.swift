import ByteText
import OAuth

/// A request that is decided without a gateway: written by an operator, or generated.
public struct TriedRequest: Sendable {
  /// A header field.
  public struct Field: Sendable, Equatable {
    /// The name as written.
    public let name: String
    /// The value without surrounding blanks.
    public let value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The method, case-sensitive.
  public var method: String
  /// The host and port of an absolute URL; `nil` if the request names none.
  public var authority: String?
  /// The path as written.
  public var path: String
  /// The text after the first question mark; `nil` without one.
  public var query: String?
  /// The header fields in order.
  public var fields: [Field]
  /// The body; empty if there is none.
  public var body: [UInt8]

  /// Creates a request from its parts.
  public init(
    method: String, authority: String? = nil, path: String, query: String? = nil, fields: [Field] = [],
    body: [UInt8] = []
  ) {
    self.method = method
    self.authority = authority
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
  }

  /// Creates a GET with parameters in its query, or a POST with parameters in its body.
  public init(method: String, path: String, parameters: [FormParameters.Entry]) {
    let text = FormEncoding.serialise(parameters)
    if method == "POST" {
      self.init(
        method: method, path: path, fields: [Field("Content-Type", "application/x-www-form-urlencoded")],
        body: Array(text.utf8))
    } else {
      self.init(method: method, path: path, query: text)
    }
  }

  /// Returns the values of all fields with this name, in any letter case.
  func all(_ name: String) -> [String] {
    fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
  }

  /// The request for the authorization endpoint.
  var authorizationRequest: AuthorizationRequest {
    AuthorizationRequest(
      method: method, query: query.map { Substring($0) }, contentTypes: all("Content-Type"),
      contentEncodings: all("Content-Encoding"), body: body, userAgent: all("User-Agent").first)
  }

  /// Returns the request for an endpoint that clients call directly.
  func clientRequest(_ names: ParameterNames = .atToken) -> TokenRequest {
    TokenRequest(
      method: method, query: query.map { Substring($0) }, contentTypes: all("Content-Type"),
      contentEncodings: all("Content-Encoding"), authorization: all("Authorization"), body: body,
      definedParameters: names, hasDPoPProof: !all("DPoP").isEmpty)
  }
}

extension TriedRequest {
  /// The secret in a request that counts as a wrong one.
  static let wrongSecret = "wrong"

  /// Returns the request with the right client secret in place of each presented one, except the text `wrong`.
  ///
  /// - Parameter secret: Returns the secret with which the gateway compares that of a client id; `nil` if there is none.
  func assumingRightSecret(_ secret: (String) -> Secret?) -> TriedRequest {
    var request = self
    request.fields = fields.map { field in
      guard field.name.lowercased() == "authorization", let basic = try? BasicCredentials(parsing: field.value),
        !basic.password.isEmpty, basic.password.reveal() != TriedRequest.wrongSecret,
        let right = secret(basic.user)
      else { return field }
      return Field(field.name, BasicCredentials(user: basic.user, password: right).header.reveal())
    }
    guard let id = FormParameters(parsing: body)?[.clientID], let right = secret(id) else { return request }
    let pairs = body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { pair -> [UInt8] in
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, String(decoding: parts[0], as: UTF8.self) == "client_secret", !parts[1].isEmpty,
        String(decoding: parts[1], as: UTF8.self) != TriedRequest.wrongSecret
      else { return Array(pair) }
      return Array("client_secret=\(FormEncoding.encode(right.reveal()))".utf8)
    }
    request.body = Array(pairs.joined(separator: [UInt8(ascii: "&")]))
    return request
  }
}
