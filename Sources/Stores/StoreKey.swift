internal import Cryptography

/// The name of an entry. What is secret goes in hashed, so that a dump of the store redeems nothing (RFC 6819, section
/// 5.1.4.1.3).
public struct StoreKey: Hashable, Sendable {
  /// Who owns the entry. The letters stand in shared stores, so they never change.
  public enum Namespace: UInt8, Sendable, CaseIterable {
    /// The claim on a code's single use, and what came of it.
    case claim = 0x63
    /// The digest of an upstream code, with the transaction that brought it.
    case code = 0x78
    /// A redemption whose outcome is unknown.
    case unsettled = 0x75
    /// A state kept behind a short handle.
    case state = 0x68
    /// A device flow.
    case device = 0x64
    /// A family of refresh tokens.
    case family = 0x66
    /// A pushed authorization request.
    case pushed = 0x70
    /// The gateway's own consent.
    case consent = 0x6f
    /// Challenges that were seen before.
    case challenge = 0x72

    /// Whether requests make such entries that prove nothing, so that anybody can make as many as he likes. What users
    /// and clients have earned has a namespace where this is `false`.
    public var isOpenToAnybody: Bool {
      switch self {
      case .state, .device, .pushed, .consent, .challenge: true
      case .claim, .code, .unsettled, .family: false
      }
    }
  }

  public let namespace: Namespace
  /// As given for a public name, a SHA-256 digest for a secret one.
  public let bytes: [UInt8]

  /// An entry named by something public, such as a transaction id.
  public init(_ namespace: Namespace, id: [UInt8]) {
    self.namespace = namespace
    self.bytes = id
  }

  /// An entry named by a secret, such as a handle or a device code.
  public init(_ namespace: Namespace, hashing secret: [UInt8]) {
    self.namespace = namespace
    self.bytes = sha256(secret)
  }
}
