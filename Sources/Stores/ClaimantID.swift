internal import Cryptography

/// The process that holds a claim: 8 random bytes, with which the nonce of the claim begins.
///
/// Other processes read the id in the record of a claim and ask the store if the process with this id is gone
/// (`EphemeralStore.isGone`). A process with a shared store uses an id only until the process has failed once to tell
/// the store in time that it lives. Then it takes another id, because its claims may have been taken over.
public struct ClaimantID: Hashable, Sendable {
  /// The number of bytes of an id.
  public static let length = 8

  /// The id of this process, for stores that only one process uses at a time.
  static let ofProcess = ClaimantID()

  /// The ``length`` bytes of the id.
  public let bytes: [UInt8]

  /// Creates a random id.
  public init() {
    bytes = randomBytes(ClaimantID.length)
  }

  /// Creates the id with which a nonce begins.
  ///
  /// - Parameter nonce: at least ``length`` bytes.
  init(of nonce: some Collection<UInt8>) {
    bytes = Array(nonce.prefix(ClaimantID.length))
  }
}
