internal import Cryptography

/// A key of the ring. Its description omits the secret.
public struct SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The permitted use of a key. A key passes through the states in this order. Before each step, every replica must
  /// have loaded the previous one, so that no replica gets a value that it cannot open.
  public enum State: String, Sendable, CaseIterable {
    /// Opens values, but does not seal.
    case opens
    /// Seals and opens; if several keys have this state, the newest one seals.
    case seals
    /// Only its id is known: values that it sealed are refused as expired.
    case retired
  }

  static let secretLength = 32

  /// The id, which is part of every value that the key seals.
  public let id: KeyID
  /// The time of creation, in seconds since 1970.
  public let created: Int64
  /// The permitted use; rotation and retirement change it.
  public internal(set) var state: State
  /// The key itself, 32 bytes; empty once the key is retired.
  var secret: [UInt8]

  /// The id and the state, without the secret.
  public var description: String { "\(id) \(state.rawValue)" }
  /// The time of creation as the key file writes it: UTC, in the form of RFC 3339.
  public var createdText: String { UTCTime.text(created) }

  /// All members except the secret, so that `dump` does not print it.
  public var customMirror: Mirror { Mirror(self, children: ["id": id, "created": created, "state": state]) }

  /// Returns a new random key.
  static func generate(created: Int64, state: State) -> SealingKey {
    SealingKey(
      id: KeyID(bytes: randomBytes(KeyID.byteCount)), created: created, state: state,
      secret: randomBytes(secretLength))
  }
}
