internal import ByteText
import Cryptography
public import OAuth
public import Policy
public import Time

/// The first 128 bits of a SHA-256 digest. It is stored in place of a value that must not be stored itself.
public struct ShortDigest: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  /// Computes the digest of a list of texts.
  public init(_ parts: String...) {
    // The length of each part is in front of it, so that different lists of parts give different texts.
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    let bytes = sha256(Array(text.utf8))
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The digest as 32 hexadecimal digits.
  public var description: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The record of an observed authorization request. The gateway keeps the record to check the redemption of the code
/// that the upstream issues for the request. The record has a fixed size and contains digests instead of values.
public struct ObservedFlow: Sendable, Equatable {
  enum Challenge: Equatable {
    case none
    case s256(ShortDigest)
    case plain(ShortDigest)
    /// A challenge with an unknown method. No verifier can be compared with it. The decision on the authorization
    /// request has already reported the method.
    case unusable
  }

  /// The digest of the client id; `nil` if the request has no single client id.
  let client: ShortDigest?
  /// The digest of the redirect URI as sent; `nil` if the request omitted it.
  let redirectURI: ShortDigest?
  let challenge: Challenge

  /// Records the digests of a request.
  public init(_ request: AuthorizationRequest) {
    client = request.parameters[.clientID].map { ShortDigest($0) }
    redirectURI = request.parameters[.redirectURI].map { ShortDigest($0) }
    challenge =
      switch (request.parameters[.codeChallenge], request.parameters[.codeChallengeMethod] ?? "plain") {
      case (nil, _): .none
      case (.some(let text), "S256"): .s256(ShortDigest(text))
      case (.some(let text), "plain"): .plain(ShortDigest(text))
      case (.some, _): .unusable
      }
  }

  /// Returns a digest of the `state` and the redirect URI of an authorization request, without its query.
  /// ``digests(of:)`` returns the same digest for the upstream's response, so that the gateway finds the request of a response. `nil` if the request
  /// omitted the redirect URI and the registration of the client does not determine it.
  public static func linkDigest(of request: AuthorizationRequest, client: Client?) -> ShortDigest? {
    let registered = client.flatMap { RedirectURI.defaultURI(registered: $0.redirectURIs)?.text }
    guard let address = request.commonValue(of: .redirectURI) ?? registered else { return nil }
    // The response may have any parameters besides those of the redirect URI, so the query is not compared.
    let end = { (byte: UInt8) in byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
    return ShortDigest(
      request.commonValue(of: .state) ?? "", String(decoding: address.utf8.prefix { !end($0) }, as: UTF8.self))
  }

  /// Returns the digest of ``linkDigest(of:client:)`` for a POST that may be a login or consent form of the upstream.
  /// `nil` if enforce mode would refuse it as such a form, because the query and the body have different values or a
  /// parameter cannot be read.
  ///
  /// The request is such a form if an authorization request with the same digest is known.
  public static func linkDigest(ofForm request: AuthorizationRequest, client: Client?) -> ShortDigest? {
    guard !request.isLink, !request.hasNonFormBody,
      request.defect == nil || request.defect == .parametersInQueryAndBody,
      request.parametersWithValue.isDisjoint(with: .requestObjects),
      request.parameterSources.allSatisfy({ !$0.hasLookalikeName && !$0.hasMalformedName })
    else { return nil }
    let compared: [ParameterName] = [
      .clientID, .redirectURI, .responseType, .responseMode, .state, .codeChallenge, .codeChallengeMethod,
    ]
    for parameter in compared where request.contains(parameter) && request.commonValue(of: parameter) == nil {
      return nil
    }
    return linkDigest(of: request, client: client)
  }

  /// Returns the digest that links an authorization response of the upstream to its request, and the digest of its
  /// code. `nil` if the response is not in a `Location`, or does not have exactly one code.
  public static func digests(of answer: UpstreamAuthorizationResponse) -> (link: ShortDigest, code: ShortDigest)? {
    guard let code = answer.parameters[.code], let address = answer.address else { return nil }
    return (ShortDigest(answer.parameters[.state] ?? "", address), ShortDigest(code))
  }
}

extension Enforcement {
  /// Returns the refusals that `mode: enforce` would have given for an observed redemption of a code whose
  /// authorization request is known (invariant `I-observe`).
  ///
  /// - Parameters:
  ///   - flow: The record of the authorization request for which the code was issued.
  ///   - isSecondUse: True if a token request with the code was observed before.
  ///   - age: The time since the gateway forwarded the code.
  public static func rejections(
    of request: TokenRequest, redeeming flow: ObservedFlow, isSecondUse: Bool, age: Seconds, policy: Policy
  ) -> [Rejection] {
    let id = request.readableClientAuthentication?.clientID
    let client = id.flatMap { policy.clients[$0] }
    var rejections: [Rejection] = []
    if id.map({ ShortDigest($0.rawValue) }) != flow.client { rejections.append(.codeIssuedToOtherClient) }
    if isSecondUse { rejections.append(.codeUsed) }
    if let client, age >= client.codeLifetime { rejections.append(.codeExpired) }
    let mayOmitRedirectURI = client?.profile == .oauth21 && flow.challenge != .none
    switch request.parameters[.redirectURI].map({ ShortDigest($0) }) {
    case nil where flow.redirectURI == nil || mayOmitRedirectURI: break
    case flow.redirectURI?: break
    default: rejections.append(.codeRedirectURIMismatch)
    }
    if let rejection = rejection(of: request.parameters[.codeVerifier], for: flow.challenge) {
      rejections.append(rejection)
    }
    return rejections
  }

  /// Compares the verifier with the challenge (RFC 7636, section 4.6). A verifier without a challenge is refused (RFC
  /// 9700, section 4.8.2).
  private static func rejection(of verifier: String?, for challenge: ObservedFlow.Challenge) -> Rejection? {
    switch (challenge, verifier) {
    case (.unusable, _), (.none, nil): nil
    case (.none, .some): .unexpectedVerifier
    case (_, nil): .verifierMissing
    case (.plain(let digest), .some(let verifier)):
      ShortDigest(verifier) == digest ? nil : .verifierMismatch
    case (.s256(let digest), .some(let verifier)):
      ShortDigest(Base64URL.encode(sha256(Array(verifier.utf8)))) == digest ? nil : .verifierMismatch
    }
  }
}
