internal import Cryptography

/// The id of a process that holds claims: 8 random bytes at the start of the nonce of each claim.
///
/// Other processes read the id in the record of a claim and ask the store if the process with this id is gone
/// (`EphemeralStore.isGone`). A process that holds a claim in a shared store must show regularly that it lives. If the
/// process once fails to do so in time, it takes another id, because its claims may have been taken over.
public struct ClaimantID: Hashable, Sendable {
  /// The number of bytes of an id.
  public static let length = 8

  /// The id of this process, for stores that only one process uses at a time.
  static let ofProcess = ClaimantID()

  /// A number instead of an array, because the id is compared and stored at each redemption.
  private let number: UInt64

  /// Creates a random id.
  public init() {
    self.init(of: randomBytes(ClaimantID.length))
  }

  /// Creates the id with which a nonce begins.
  ///
  /// - Parameter nonce: at least ``length`` bytes.
  init(of nonce: some Sequence<UInt8>) {
    number = nonce.prefix(ClaimantID.length).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// The ``length`` bytes of the id.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// Appends the bytes of the id.
  func append(to bytes: inout [UInt8]) {
    var shift = UInt64.bitWidth
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }
}
