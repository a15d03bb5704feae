internal import ByteText

/// A request at the token endpoint (RFC 6749, sections 3.2, 4.1.3 and 6) or at another endpoint that clients call in
/// the same way, parsed but not yet checked.
///
/// A class, because several types contain the same request, and a copy of a structure would increment the reference
/// count of every string in it.
public final class TokenRequest: Sendable {
  /// The parameters of the body; empty if the body is not a form, or has too many parameters.
  public let parameters: FormParameters
  /// The parameters of the query; `nil` if it has too many parameters.
  public let query: FormParameters?
  /// True if the query and the body could be parsed, even if the endpoint does not accept the request.
  public let isReadable: Bool
  /// The defect of the method, the body or the set of parameters; `nil` if there is none.
  public let defect: RequestDefect?
  /// The parameters that are defined for the endpoint.
  public let definedParameters: ParameterNames
  /// True if the request has a DPoP proof (RFC 9449, section 5).
  public let hasDPoPProof: Bool
  /// True if a trusted proxy forwarded a certificate that the client presented (RFC 9440).
  public let hasClientCertificate: Bool
  /// The values of all `Authorization` fields.
  private let authorization: [Secret]
  /// The credentials in all `Authorization` fields. They are parsed once, because the value may have some 10 KB.
  private let credentials: [Result<BasicCredentials, ClientAuthenticationError>]
  /// The users, i.e. client ids, in the `Authorization` fields that are HTTP Basic and in which every server reads the
  /// same user. The password need not be form-encoded, because many clients do not encode it.
  public let basicUsers: [String]
  /// The users in all `Authorization` fields that some server may read as HTTP Basic. A user that cannot be
  /// form-decoded is here without form-decoding. Of a user with a backslash, the text after it is here, too, because
  /// servers of Windows domains read `DOMAIN\user`.
  public let usersInAuthorization: [String]

  /// Parses a request.
  /// - Parameters:
  ///   - method: The method, case-sensitive.
  ///   - query: The text after the question mark; `nil` without one.
  ///   - contentTypes: The values of all `Content-Type` fields.
  ///   - contentEncodings: The values of all `Content-Encoding` fields.
  ///   - authorization: The values of all `Authorization` fields.
  ///   - body: The body.
  ///   - definedParameters: The parameters that are defined for the endpoint.
  ///   - hasDPoPProof: True if there is a `DPoP` field.
  ///   - hasClientCertificate: True if a trusted proxy forwarded a certificate that the client presented.
  public init(
    method: String, query: Substring?, contentTypes: [String], contentEncodings: [String] = [],
    authorization: [String] = [], body: [UInt8], definedParameters: ParameterNames = .atToken,
    hasDPoPProof: Bool = false, hasClientCertificate: Bool = false
  ) {
    self.hasDPoPProof = hasDPoPProof
    self.hasClientCertificate = hasClientCertificate
    self.definedParameters = definedParameters
    self.authorization = authorization.map { Secret($0) }
    if authorization.isEmpty {
      (credentials, basicUsers, usersInAuthorization) = ([], [], [])
    } else {
      credentials = authorization.map(TokenRequest.credentials)
      basicUsers = zip(authorization, credentials).compactMap(TokenRequest.basicUser)
      usersInAuthorization = authorization.flatMap(TokenRequest.users)
    }
    let isForm = FormContent.isForm(types: contentTypes, encodings: contentEncodings)
    let queryParameters = FormParameters(parsing: query ?? "")
    let bodyParameters = isForm ? FormParameters(parsing: FormContent.withoutFinalLineEnd(body)) : FormParameters()
    parameters = bodyParameters ?? FormParameters()
    self.query = queryParameters
    let isReadableBody = body.isEmpty ? isForm || !FormContent.namesOtherCharset(contentTypes) : isForm
    isReadable = queryParameters != nil && bodyParameters != nil && isReadableBody
    defect =
      if method != "POST" {
        .method
      } else if queryParameters.map({ TokenRequest.hasParameters(definedParameters, in: $0) }) ?? true {
        .parametersInQuery
      } else if !isForm {
        .bodyNotForm
      } else {
        bodyParameters == nil ? .tooManyParameters : nil
      }
  }

  /// Returns the client id and the credentials; `nil` if the request contains no client id.
  ///
  /// - Throws: `ClientAuthenticationError` if there is more than one method, if there are two different client ids, or
  ///   if the `Authorization` field is malformed.
  public func clientAuthentication() throws(ClientAuthenticationError) -> ClientAuthentication? {
    try ClientAuthentication.read(authorization: authorization, credentials, body: parameters)
  }

  /// The client id and the credentials; `nil` if the request contains no client id, and if `clientAuthentication` throws.
  ///
  /// For records, for counting failed attempts, and for finding the client whose rules apply. The decision on the request
  /// uses `clientAuthentication`, and refuses a request for which it throws.
  public var readableClientAuthentication: ClientAuthentication? {
    do throws(ClientAuthenticationError) { return try clientAuthentication() } catch { return nil }
  }

  /// The parameters of the query and those of the body. A list is empty if its part cannot be parsed.
  public var parameterSources: [FormParameters] { [query ?? FormParameters(), parameters] }

  /// Returns all values of a parameter, from the query and the body, except those that are empty or cannot be decoded.
  public func all(_ parameter: ParameterName) -> [String] { parameterSources.flatMap { $0.all(parameter) } }

  /// True if the request has no `Authorization` field, or one in which every server reads the same user.
  public var authorizationIsReadable: Bool { authorization.count <= 1 && basicUsers.count == authorization.count }

  /// True if the request has one `Authorization` field, with a bearer token.
  public var hasBearerToken: Bool {
    authorization.count == 1 && authorization.allSatisfy { BearerToken(parsing: $0.reveal()) != nil }
  }

  /// The client ids in the query, the body and the `Authorization` fields.
  public var namedClients: [String] { all(.clientID) + basicUsers }

  /// The client id in the query, the body and the `Authorization` fields; `nil` if there is none, or if there are
  /// different ones.
  public var clientID: String? {
    let ids = namedClients
    guard let id = ids.first, ids.allSatisfy({ $0.utf8.span.isEqual(to: id.utf8.span) }) else { return nil }
    return id
  }

  private static func credentials(in header: String) -> Result<BasicCredentials, ClientAuthenticationError> {
    do throws(ClientAuthenticationError) { return .success(try BasicCredentials(parsing: header)) } catch {
      return .failure(error)
    }
  }

  private static func basicUser(
    in header: String, _ credentials: Result<BasicCredentials, ClientAuthenticationError>
  ) -> String? {
    if case .success(let credentials) = credentials { return credentials.user }
    let parts = header.utf8.split(separator: .space, maxSplits: 1)
    guard parts.count == 2, BasicCredentials.isScheme(parts[0]), let pair = Base64.decode(parts[1].span),
      let colon = pair.firstIndex(of: UInt8(ascii: ":")), colon > 0, !pair.span.hasControl
    else { return nil }
    // A user with one of these characters could mean another id to a server that does not decode it.
    let user = pair.span.extracting(0..<colon)
    guard !user.contains(UInt8(ascii: "%")), !user.contains(UInt8(ascii: "+")) else { return nil }
    return String(validating: user).flatMap { ClientID.isComparable($0) ? $0 : nil }
  }

  private static func users(in header: String) -> [String] {
    guard let user = user(in: header) else { return [] }
    guard let backslash = user.utf8.lastIndex(of: UInt8(ascii: "\\")) else { return [user] }
    return [user, String(user[user.utf8.index(after: backslash)...])]
  }

  private static func user(in header: String) -> String? {
    let parts = header.utf8.split(maxSplits: 2, whereSeparator: \.isBlank)
    guard parts.count == 2, BasicCredentials.isScheme(parts[0]) else { return nil }
    let user = Array(LenientBase64.decode(parts[1].span).prefix { $0 != UInt8(ascii: ":") })
    // Bytes that are not UTF-8 are ignored where ids are compared, as U+007F is. To repair them costs much more.
    return FormEncoding.decode(user.span) ?? String(validating: user.span) ?? String(asciiReading: user.span)
  }

  private static func hasParameters(_ names: ParameterNames, in parameters: FormParameters) -> Bool {
    parameters.hasMalformedName || !parameters.parametersWithValue.isDisjoint(with: names)
      || parameters.alternativeSpelling(of: names) != nil
  }
}
