internal import Cryptography
public import OAuth

/// The name of an entry: a kind and 128 bits. The name for a secret is a hash of it, so that no name in a dump of the
/// store can be redeemed as a code or handle (RFC 6819, section 5.1.4.1.3).
public struct StoreKey: Hashable, Sendable {
  /// The length of a key without its kind: 16 bytes.
  public static let byteCount = 16

  /// The kind of the entry.
  public let kind: StoreKind
  package let high: UInt64
  package let low: UInt64

  /// Creates the name of an entry for a public value, such as a transaction id.
  public init(_ kind: StoreKind, id: TransactionID) {
    self.init(kind, bytes: id.bytes)
  }

  /// Creates the name of an entry for a secret, such as a handle or a code: the first half of its SHA-256 digest.
  public init(_ kind: StoreKind, hashing secret: [UInt8]) {
    self.init(kind, bytes: sha256(secret))
  }

  private init(_ kind: StoreKind, bytes: [UInt8]) {
    self.kind = kind
    high = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
  }

  init(_ kind: StoreKind, high: UInt64, low: UInt64) {
    self.kind = kind
    self.high = high
    self.low = low
  }

  /// The 16 bytes without the kind.
  public var bytes: [UInt8] {
    [UInt8](capacity: StoreKey.byteCount) { output in
      for index in 0..<StoreKey.byteCount {
        let half = index < 8 ? high : low
        output.append(UInt8(truncatingIfNeeded: half >> (56 - 8 * (index % 8))))
      }
    }
  }
}
