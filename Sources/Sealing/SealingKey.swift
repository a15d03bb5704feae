internal import Cryptography
public import Time

/// A key of the key ring. Its description omits the secret.
public struct SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The permitted use of a key.
  ///
  /// The first key of a file begins in the state `seals`. A rotation has two steps: the first adds a key in the state
  /// `opens`. The second changes this key to `seals`, and the key that sealed until then to `opens`. A key that no
  /// longer seals can be retired. Every replica must have loaded a change before the next one is made, so that no
  /// replica gets a value that it cannot open.
  public enum State: String, Sendable, CaseIterable {
    /// The key opens (verifies and decrypts) values, but does not seal (encrypt and authenticate) them.
    case opens
    /// The key seals and opens values. If several keys have this state, only the newest one seals.
    case seals
    /// The key is no longer used, and only its id is kept. Values that it sealed are refused like values that the
    /// gateway did not seal.
    case retired
  }

  static let secretLength = 32

  /// The id, which is part of every value that the key seals.
  public let id: KeyID
  /// The time of creation.
  public let created: UnixTime
  /// The permitted use. Rotation and retirement change it.
  public internal(set) var state: State
  /// The time of the rotation in which another key began to seal in place of this one; `nil` for a key that has never
  /// sealed, for one that seals, and for one whose rotation was not recorded.
  public internal(set) var sealedUntil: UnixTime?
  /// The key itself, 32 bytes; empty after the key is retired.
  var secret: [UInt8]

  /// The id and the state, without the secret.
  public var description: String { "\(id) \(state.rawValue)" }
  /// The time of creation as the key file writes it: UTC, in the form of RFC 3339.
  public var createdText: String { created.text }
  /// `sealedUntil` as the key file writes it.
  public var sealedUntilText: String? { sealedUntil?.text }

  /// All members except the secret, so that `dump` does not print it.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["id": id, "created": created, "state": state, "sealedUntil": sealedUntilText ?? "-"])
  }

  /// Returns a new random key.
  static func generate(created: UnixTime, state: State) -> SealingKey {
    SealingKey(
      id: KeyID(bytes: randomBytes(KeyID.byteCount)), created: created, state: state,
      secret: randomBytes(secretLength))
  }
}
