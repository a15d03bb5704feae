import Cryptography
public import OAuth
public import Policy

/// The first 128 bits of a SHA-256 digest, remembered in place of a value that must not be kept.
public struct ShortDigest: Hashable, Sendable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64

  /// Digests a list of texts.
  public init(_ parts: String...) {
    // Each part follows its length, so that no two lists of parts give the same text.
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    let bytes = sha256(Array(text.utf8))
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// 32 hexadecimal digits.
  public var description: String {
    [high, low].map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

/// The record of an observed authorization request, kept until its code is redeemed: of fixed size, and without the
/// values.
public struct ObservedFlow: Sendable, Equatable {
  enum Challenge: Equatable {
    case none
    case s256(ShortDigest)
    case plain(ShortDigest)
    /// A challenge with an unknown method, which no verifier can be compared with. The finding was reported for the
    /// authorization request.
    case unusable
  }

  let client: ShortDigest?
  /// The redirect URI as sent; `nil` if the request omitted it.
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

  /// Returns the digest that links an answer to its request, computed from the state and the address of the answer;
  /// `nil` if the address is unknown, because the request omitted it and the client has several.
  public static func link(_ request: AuthorizationRequest, client: Client?) -> ShortDigest? {
    let registered = client.flatMap { RedirectURI.onlyUsable(of: $0.redirectURIs)?.text }
    guard let address = request.parameters[.redirectURI] ?? registered else { return nil }
    return ShortDigest(request.parameters[.state] ?? "", address)
  }

  /// Returns the link of an upstream answer and the digest of its code; `nil` for a location that is not an answer with
  /// exactly one code.
  public static func link(_ answer: UpstreamAuthorizationResponse) -> (link: ShortDigest, code: ShortDigest)? {
    guard let code = answer.parameters[.code], let address = answer.address else { return nil }
    return (ShortDigest(answer.parameters[.state] ?? "", address), ShortDigest(code))
  }
}

extension Enforcement {
  /// Returns the refusals that `mode: enforce` would have given for an observed redemption whose authorization request
  /// is known (`I-observe`).
  ///
  /// - Parameters:
  ///   - flow: The record of the authorization request for which the code was issued.
  ///   - isSecondUse: True if the code was presented before.
  ///   - age: The seconds since the gateway forwarded the code.
  public static func rejections(
    of request: TokenRequest, redeeming flow: ObservedFlow, isSecondUse: Bool, age: Int64, policy: Policy
  ) -> [Rejection] {
    let id = (try? request.clientAuthentication())?.clientID
    let client = id.flatMap { policy.clients[$0] }
    var rejections: [Rejection] = []
    if id.map({ ShortDigest($0.rawValue) }) != flow.client { rejections.append(.codeIssuedToOtherClient) }
    if isSecondUse { rejections.append(.codeUsed) }
    if let client, age >= Int64(client.codeLifetime) { rejections.append(.codeExpired) }
    let isExcused = client?.profile == .oauth21 && flow.challenge != .none
    switch request.parameters[.redirectURI].map({ ShortDigest($0) }) {
    case nil where flow.redirectURI == nil || isExcused: break
    case flow.redirectURI?: break
    default: rejections.append(.codeRedirectURI)
    }
    if let rejection = rejection(of: request.parameters[.codeVerifier], for: flow.challenge) {
      rejections.append(rejection)
    }
    return rejections
  }

  /// Compares as in RFC 7636, section 4.6, and refuses a verifier without a challenge (RFC 9700, section 4.8.2).
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
