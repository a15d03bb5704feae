/// How a client names itself and, perhaps, proves it, at an endpoint that clients call (RFC 6749, section 2.3).
public struct ClientAuthentication: Sendable {
  /// Where the credentials stand.
  public enum Method: Sendable, Equatable {
    /// HTTP Basic (RFC 6749, section 2.3.1).
    case basic
    /// `client_secret` in the body.
    case post
    /// `client_assertion` in the body (RFC 7521, section 4.2), which only an upstream can check.
    case assertion
    /// Nothing but the identifier (RFC 6749, section 3.2.1).
    case none
  }

  public let clientID: ClientID
  public let method: Method
  /// The secret that was presented; empty secrets count as none.
  public let secret: Secret?
  /// The `Authorization` value as sent, for an upstream that checks it itself.
  public let authorizationHeader: Secret?

  /// Reads the credentials of a request; `nil` means that it names no client at all.
  ///
  /// - Parameters:
  ///   - authorization: The values of all `Authorization` fields.
  ///   - body: The parameters of the body.
  public static func read(
    authorization: [String], body: FormParameters
  ) throws(ClientAuthenticationError) -> ClientAuthentication? {
    let inBody = body[.clientSecret].map { Secret($0) }
    let hasAssertion = body[.clientAssertion] != nil || body[.clientAssertionType] != nil
    guard authorization.count <= 1 else { throw .severalMethods }
    guard !(inBody != nil && hasAssertion) else { throw .severalMethods }
    guard let header = authorization.first else {
      guard let id = body[.clientID] else { return nil }
      let method: Method = hasAssertion ? .assertion : inBody == nil ? .none : .post
      return ClientAuthentication(clientID: ClientID(id), method: method, secret: inBody, authorizationHeader: nil)
    }

    let basic = try BasicCredentials(parsing: header)
    guard inBody == nil, !hasAssertion else { throw .severalMethods }
    if let id = body[.clientID], id != basic.user { throw .severalIdentifiers }
    // An identifier with an empty secret says who, and proves nothing.
    guard !basic.password.isEmpty else {
      return ClientAuthentication(
        clientID: ClientID(basic.user), method: .none, secret: nil, authorizationHeader: nil)
    }
    return ClientAuthentication(
      clientID: ClientID(basic.user), method: .basic, secret: basic.password, authorizationHeader: Secret(header))
  }
}

/// Why credentials are not accepted before they are even compared.
public enum ClientAuthenticationError: Error, Equatable, Sendable {
  /// More than one method at once (RFC 6749, section 2.3).
  case severalMethods
  /// The header and the body name different clients.
  case severalIdentifiers
  /// An `Authorization` field that is not well-formed HTTP Basic.
  case malformedHeader
}
