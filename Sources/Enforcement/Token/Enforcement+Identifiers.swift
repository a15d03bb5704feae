internal import ByteText
public import OAuth
internal import PathReading
public import Policy

extension Enforcement {
  /// Returns the refusal of a request that contains a guarded id: an upstream client id whose secret the gateway holds
  /// (invariant `I-credentials`). `nil` if the request contains none.
  ///
  /// The search covers all parts of the request in which a server may look for a client: `Authorization`, the query,
  /// the body, and the claims of an assertion. A request that cannot be searched is refused, because the upstream may
  /// be able to read it. While a client is enforced, this is so also if the policy has no guarded id, because the gateway
  /// forwards such requests with the `Content-Type` of a form. If the policy lists a guarded id as a client, the id is
  /// permitted in its exact spelling, and the other rules apply to this client.
  ///
  /// - Parameters:
  ///   - request: A request at the token, revocation, introspection or pushed authorization request endpoint.
  ///   - guarded: The protected ids of `policy`. Only the guarded ones, `idsWithUpstreamSecret`, are searched for.
  ///   - policy: The current policy.
  public static func guardedIDRejection(
    in request: TokenRequest, guarded: GuardedIdentifiers, policy: Policy
  ) -> Rejection? {
    guard !guarded.idsWithUpstreamSecret.isEmpty else {
      return policy.isEnforcing && !request.isReadable ? .bodyNotForm : nil
    }
    for id in request.usersInAuthorization where isGuarded(id, guarded, policy) { return .clientIDOfUpstreamAtToken }
    if let rejection = rejection(of: request.parameters, guarded, policy) { return rejection }
    if let query = request.query, let rejection = rejection(of: query, guarded, policy) { return rejection }
    return request.isReadable ? nil : .bodyNotForm
  }

  /// Returns the refusal of an introspection request whose `Authorization` is not one field with HTTP Basic, in which
  /// every server reads the same user, or with a bearer token (RFC 7662, section 2.1); `nil` for other requests. A lenient
  /// server could read credentials of a guarded id, or a secret that only the gateway may learn, where the gateway reads
  /// none (invariant `I-credentials`).
  public static func authorizationRejection(ofIntrospection request: TokenRequest) -> Rejection? {
    request.authorizationIsReadable || request.hasBearerToken ? nil : .clientAuthenticationMalformed
  }

  private static func rejection(
    of parameters: FormParameters, _ guarded: GuardedIdentifiers, _ policy: Policy
  ) -> Rejection? {
    guard !parameters.hasMalformedName else { return .parameterNameMalformed }
    // Each assertion is searched, so many would cost much work.
    guard parameters.all(.clientAssertion).count <= 1 else { return .parameterRepeated }
    for entry in parameters.entries {
      switch entry.parameter {
      case .clientID: if isGuarded(entry.value, guarded, policy) { return .clientIDOfUpstreamAtToken }
      case .clientAssertion:
        guard let values = ClientClaims.values(in: entry.value) else { return .parameterMalformed }
        if values.contains(where: { isGuarded($0, guarded, policy) }) { return .clientIDOfUpstreamAtToken }
      case nil:
        if isClientName(entry.name), isGuarded(entry.value, guarded, policy) { return .clientIDOfUpstreamAtToken }
      default: continue
      }
    }
    guard parameters.namesWithMalformedValue.allSatisfy({ !isClientName($0) }) else { return .parameterMalformed }
    let hasExactSpelling =
      parameters.alternativeSpelling(of: ParameterNames(.clientID)) == nil
      && !parameters.namesAfterSemicolon.contains(where: isClientName)
    return hasExactSpelling ? nil : .parameterSpelling
  }

  private static func isGuarded(_ id: String, _ guarded: GuardedIdentifiers, _ policy: Policy) -> Bool {
    // Nearly all requests have the exact id of a client, and to find it takes much less time than the lenient search.
    !(ClientID.isComparable(id) && policy.clients[ClientID(id)] != nil) && guarded.idsWithUpstreamSecret.contains(id)
  }

  /// Returns true if some server may read a client id from a parameter with this name, such as `clientId` or
  /// `client.id`.
  private static func isClientName(_ name: String) -> Bool {
    let letters = name.utf8.map(\.lowercasedASCII).filter(\.isLowercaseLetter)
    return letters.span.contains("client") && !letters.span.contains("secret")
  }
}

/// Extracts the strings in the payload of a client assertion, which is a JWT. The claims `sub` and `iss` of the
/// assertion contain a client id (RFC 7523, section 3).
enum ClientClaims {
  /// Returns the texts between quotation marks, which include all strings of the payload; `nil` if the payload is too long
  /// or has too many (`ClientAssertion`). The structure of the payload is not parsed, because the result is only searched
  /// for ids.
  static func values(in assertion: String) -> [String]? {
    guard let parts = ClientAssertion.parts(of: assertion) else { return nil }
    guard parts.count > 1 else { return [] }
    return ClientAssertion.pieces(of: unescaped(LenientBase64.decode(parts[1].span)))?.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Replaces `\uXXXX` with its character, and removes the backslash of any other escape (RFC 8259, section 7).
  private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
        result.append(bytes[index])
        index += 1
        continue
      }
      let digits = bytes[(index + 2)...].prefix(4)
      if bytes[index + 1] == UInt8(ascii: "u"), digits.count == 4,
        let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
      {
        if let scalar = Unicode.Scalar(value) { result.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
        index += 6
      } else {
        result.append(bytes[index + 1])
        index += 2
      }
    }
    return result
  }
}

/// A set of client ids. It also contains every text that some server may treat as one of the ids
/// (`LenientDecoding.identifier`).
public struct IdentifierSet: Sendable {
  private let folded: Set<[UInt8]>

  /// Creates a set with the ids.
  public init(_ ids: some Sequence<ClientID>) {
    folded = Set(ids.map { LenientDecoding.identifier($0.rawValue) })
  }

  /// True if the set is empty.
  public var isEmpty: Bool { folded.isEmpty }

  /// Returns true if some server may treat `id` as one of the ids.
  public func contains(_ id: String) -> Bool { !folded.isEmpty && folded.contains(LenientDecoding.identifier(id)) }
}

/// Two sets of client ids whose secrets are protected at the endpoints that clients call. Creating the sets takes time
/// in proportion to the number of clients, so they are created once for each policy.
public struct GuardedIdentifiers: Sendable {
  /// The upstream ids for which the gateway holds a secret. Those of observed clients are only included if the set was
  /// created with `asIfEnforced`.
  public let idsWithUpstreamSecret: IdentifierSet
  /// The ids of clients that have a separate secret for the gateway, which must not be sent upstream.
  public let idsWithGatewaySecret: IdentifierSet

  /// Collects the ids of a policy.
  ///
  /// - Parameter asIfEnforced: True to treat observed clients as enforced ones.
  public init(_ policy: Policy, asIfEnforced: Bool = false) {
    let withUpstreamSecret = policy.clients.values.lazy.filter { client in
      (asIfEnforced || client.mode == .enforce) && client.upstream.clientSecret != nil
    }
    // Unlisted clients are always enforced, so without an enforcing policy these are those of resources.
    let shared = policy.isEnforcing || asIfEnforced ? policy.sharedUpstreamClients : []
    let others = shared.filter { $0.clientSecret != nil }
    idsWithUpstreamSecret = IdentifierSet(
      withUpstreamSecret.map(\.settings.upstream.clientID) + others.map(\.clientID))
    idsWithGatewaySecret = IdentifierSet(policy.clients.values.lazy.filter { $0.secret != nil }.map(\.settings.id))
  }
}
