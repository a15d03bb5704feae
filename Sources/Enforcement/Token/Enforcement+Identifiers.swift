internal import Bytes
public import OAuth
public import Policy

extension Enforcement {
  /// Returns the refusal of a request that names an upstream id whose secret the gateway holds (`I-credentials`); `nil`
  /// if it names no such id.
  ///
  /// The request is searched in every place where a server may look for a client: `Authorization`, the query, the body,
  /// and the claims of an assertion. A request that cannot be searched is refused, because a server may read what the
  /// gateway cannot. A request may name an id that the policy lists as a client, in its exact spelling: then only the
  /// credentials that the request presents are used.
  ///
  /// - Parameters:
  ///   - request: A request at the token, revocation, introspection or pushed authorization endpoint.
  ///   - guarded: The guarded ids of `policy`.
  public static func refusal(
    naming request: TokenRequest, guarded: GuardedIdentifiers, policy: Policy
  ) -> Rejection? {
    guard !guarded.held.isEmpty else { return nil }
    for id in request.namedInHeader where isHeld(id, guarded, policy) { return .clientIsUpstream }
    if let rejection = rejection(of: request.parameters, guarded, policy) { return rejection }
    if let query = request.query, let rejection = rejection(of: query, guarded, policy) { return rejection }
    return request.isReadable ? nil : .bodyType
  }

  private static func rejection(
    of parameters: FormParameters, _ guarded: GuardedIdentifiers, _ policy: Policy
  ) -> Rejection? {
    guard !parameters.hasMalformedName else { return .parameterNameMalformed }
    for entry in parameters.entries {
      switch entry.parameter {
      case .clientID: if isHeld(entry.value, guarded, policy) { return .clientIsUpstream }
      case .clientAssertion:
        if ClientClaims.values(in: entry.value).contains(where: { isHeld($0, guarded, policy) }) {
          return .clientIsUpstream
        }
      case nil: if isClientName(entry.name), isHeld(entry.value, guarded, policy) { return .clientIsUpstream }
      default: continue
      }
    }
    guard parameters.malformedNames.allSatisfy({ !isClientName($0) }) else { return .parameterMalformed }
    let isSpelledPlainly = parameters.secondRepresentation(of: ParameterNames(.clientID)) == nil
    return isSpelledPlainly ? nil : .parameterSpelling
  }

  private static func isHeld(_ id: String, _ guarded: GuardedIdentifiers, _ policy: Policy) -> Bool {
    policy.clients[ClientID(id)] == nil && guarded.held.contains(id)
  }

  /// True if some server may look for a client under this name, e.g. `clientId` or `client.id`.
  private static func isClientName(_ name: String) -> Bool {
    let letters = name.utf8.map(CanonicalPath.lowercased).filter { 0x61...0x7a ~= $0 }
    return letters.span.contains("client") && !letters.span.contains("secret")
  }
}

/// The texts in the claims of a JWT; `sub` and `iss` name a client (RFC 7523, section 3).
enum ClientClaims {
  /// All strings of the payload. The payload is only searched, not trusted, so its structure does not matter.
  static func values(in assertion: String) -> [String] {
    let parts = assertion.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1 else { return [] }
    let payload = unescaped(LenientBase64.decode(parts[1].utf8))
    return payload.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Decodes the escapes of JSON (RFC 8259, section 7).
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
