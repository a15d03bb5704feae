import Cryptography

/// The client id and the credentials in a request at an endpoint that clients call directly (RFC 6749, section 2.3).
public struct ClientAuthentication: Sendable {
  /// The method by which a client authenticates.
  public enum Method: Sendable, Equatable {
    /// HTTP Basic (RFC 6749, section 2.3.1).
    case basic
    /// `client_secret` in the body.
    case post
    /// `client_assertion` in the body (RFC 7521, section 4.2), which only the upstream can verify.
    case assertion
    /// Only the client id, without credentials (RFC 6749, section 3.2.1).
    case none
  }

  /// The client id in the request.
  public let clientID: ClientID
  /// The method by which the client authenticates.
  public let method: Method
  /// The client secret in the request; `nil` if the request has none, or an empty one.
  public let secret: Secret?
  /// The secret in HTTP Basic without form decoding, if it differs (`BasicCredentials.rawPassword`); otherwise `nil`.
  private let rawSecret: Secret?
  /// The value of `Authorization` as sent, for an upstream that verifies the credentials; `nil` if the method is not
  /// `basic`.
  public let authorizationHeader: Secret?

  /// Reads the credentials of a request; `nil` if the request contains no client id.
  ///
  /// - Parameters:
  ///   - authorization: The values of all `Authorization` fields.
  ///   - credentials: The credentials in each of these fields.
  ///   - body: The parameters of the body.
  /// - Throws: `ClientAuthenticationError` if there is more than one method, if there are two different client ids, or
  ///   if the `Authorization` field is malformed.
  static func read(
    authorization: [Secret], _ credentials: [Result<BasicCredentials, ClientAuthenticationError>], body: FormParameters
  ) throws(ClientAuthenticationError) -> ClientAuthentication? {
    let bodySecret = body[.clientSecret].map { Secret($0) }
    let hasAssertion = body[.clientAssertion] != nil || body[.clientAssertionType] != nil
    guard authorization.count <= 1 else { throw .severalMethods }
    guard !(bodySecret != nil && hasAssertion) else { throw .severalMethods }
    guard let header = authorization.first, let credentials = credentials.first else {
      guard let id = body[.clientID] else { return nil }
      let method: Method = hasAssertion ? .assertion : bodySecret == nil ? .none : .post
      return ClientAuthentication(
        clientID: ClientID(id), method: method, secret: bodySecret, rawSecret: nil, authorizationHeader: nil)
    }

    let basic = try credentials.get()
    guard bodySecret == nil, !hasAssertion else { throw .severalMethods }
    if let id = body[.clientID], ClientID(id) != ClientID(basic.user) { throw .severalIdentifiers }
    // An empty secret authenticates nothing, so the request only has a client id.
    guard !basic.password.isEmpty else {
      return ClientAuthentication(
        clientID: ClientID(basic.user), method: .none, secret: nil, rawSecret: nil, authorizationHeader: nil)
    }
    return ClientAuthentication(
      clientID: ClientID(basic.user), method: .basic, secret: basic.password, rawSecret: basic.rawPassword,
      authorizationHeader: header)
  }

  /// Returns true if the request has this secret, with or without form encoding of HTTP Basic. Both readings belong to one
  /// request, so they are one guess for the limits.
  ///
  /// The time depends on the lengths only.
  public func matches(_ expected: Secret) -> Bool {
    guard let secret else { return false }
    let bytes = Array(expected.reveal().utf8)
    let isEqual = constantTimeEqual(Array(secret.reveal().utf8), bytes)
    guard let rawSecret else { return isEqual }
    let isEqualRaw = constantTimeEqual(Array(rawSecret.reveal().utf8), bytes)
    return isEqual || isEqualRaw
  }
}

/// The reason why the credentials of a request are refused because of their form, before any secret is compared.
public enum ClientAuthenticationError: Error, Equatable, Sendable {
  /// The request uses more than one method (RFC 6749, section 2.3).
  case severalMethods
  /// The `Authorization` field and the body contain different client ids.
  case severalIdentifiers
  /// The `Authorization` field is not well-formed HTTP Basic.
  case malformedHeader
}
