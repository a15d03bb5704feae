internal import Cryptography

/// One key of the ring. It prints without its secret.
public struct SealingKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The use of the key. A key goes through the states in this order; each step waits until every replica has
  /// loaded the one before, so no replica meets a value that it cannot open.
  public enum State: String, Sendable, CaseIterable {
    /// Opens what others sealed.
    case opens
    /// Seals; of several the newest does.
    case seals
    /// Known by name only: what it sealed is refused as expired.
    case retired
  }

  static let secretLength = 32

  public let id: KeyID
  /// Seconds since 1970.
  public let created: Int64
  public internal(set) var state: State
  /// 32 bytes; empty once retired.
  var secret: [UInt8]

  public var description: String { "\(id) \(state.rawValue)" }
  /// The time of creation as the key file writes it, in UTC (RFC 3339).
  public var createdText: String { UTCTime.text(created) }

  public var customMirror: Mirror { Mirror(self, children: ["id": id, "created": created, "state": state]) }

  /// A new random key.
  static func generate(created: Int64, state: State) -> SealingKey {
    SealingKey(
      id: KeyID(bytes: randomBytes(KeyID.byteCount)), created: created, state: state,
      secret: randomBytes(secretLength))
  }
}
