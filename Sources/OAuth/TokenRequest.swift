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
  let authorization: [Secret]

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
    let isForm = FormContent.isForm(types: contentTypes, encodings: contentEncodings)
    let queryParameters = FormParameters(parsing: query ?? "")
    let bodyParameters = isForm ? FormParameters(parsing: body) : FormParameters()
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
    try ClientAuthentication.read(authorization: authorization.map { $0.reveal() }, body: parameters)
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

  /// The client ids in the query, the body and the `Authorization` fields.
  public var namedClients: [String] { all(.clientID) + basicUsers }

  /// The client id in the query, the body and the `Authorization` fields; `nil` if there is none, or if there are
  /// different ones.
  public var clientID: String? {
    let ids = namedClients
    guard let id = ids.first, ids.allSatisfy({ $0.utf8.span.isEqual(to: id.utf8.span) }) else { return nil }
    return id
  }

  /// The users, i.e. client ids, in the `Authorization` fields that are HTTP Basic and in which every server reads the
  /// same user. The password need not be form-encoded, because many clients do not encode it.
  public var basicUsers: [String] {
    authorization.compactMap { header in
      let header = header.reveal()
      if let credentials = try? BasicCredentials(parsing: header) { return credentials.user }
      let parts = header.utf8.split(separator: .space, maxSplits: 1)
      guard parts.count == 2, BasicCredentials.isScheme(parts[0]), let pair = Base64.decode(Substring(parts[1])),
        let colon = pair.firstIndex(of: UInt8(ascii: ":")), colon > 0, !pair.contains(where: \.isControl)
      else { return nil }
      // A user with one of these characters could mean another id to a server that does not decode it.
      let user = pair[..<colon]
      guard !user.contains(UInt8(ascii: "%")), !user.contains(UInt8(ascii: "+")) else { return nil }
      return String(validating: user.span).flatMap { BasicCredentials.isComparable($0) ? $0 : nil }
    }
  }

  /// The users in all `Authorization` fields that some server may read as HTTP Basic. A user that cannot be
  /// form-decoded is returned without form-decoding.
  public var usersInAuthorization: [String] { authorization.compactMap { TokenRequest.user(in: $0.reveal()) } }

  private static func user(in header: String) -> String? {
    let parts = header.utf8.split(whereSeparator: \.isBlank)
    guard parts.count == 2, BasicCredentials.isScheme(parts[0]) else { return nil }
    let user = Array(LenientBase64.decode(parts[1]).prefix { $0 != UInt8(ascii: ":") })
    return FormEncoding.decode(user.span) ?? String(decoding: user, as: UTF8.self)
  }

  private static func hasParameters(_ names: ParameterNames, in parameters: FormParameters) -> Bool {
    parameters.hasMalformedName || !parameters.parametersWithValue.isDisjoint(with: names)
      || parameters.alternativeSpelling(of: names) != nil
  }
}
