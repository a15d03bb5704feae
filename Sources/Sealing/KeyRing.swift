internal import Cryptography

/// The sealing keys of a deployment: one seals, all that are not retired open.
///
/// A ring is immutable and is replaced whole on reload. Rings come from `KeyFile`, so one that exists is valid: its ids
/// differ and one of its keys seals.
public struct KeyRing: Sendable {
  /// In file order, secrets inside.
  public let keys: [SealingKey]
  /// True if the ring dies with the process, so that nothing sealed may outlive it.
  public let isEphemeral: Bool
  let sealingKey: SealingKey

  /// `nil` when no key seals.
  init?(keys: [SealingKey], isEphemeral: Bool) {
    guard let sealingKey = KeyRing.sealingKey(of: keys) else { return nil }
    self.init(keys: keys, isEphemeral: isEphemeral, sealingKey: sealingKey)
  }

  private init(keys: [SealingKey], isEphemeral: Bool, sealingKey: SealingKey) {
    self.keys = keys
    self.isEphemeral = isEphemeral
    self.sealingKey = sealingKey
  }

  /// A ring of one random key that no other process has.
  public static func ephemeral(now: Int64) -> KeyRing {
    let key = SealingKey.generate(created: now, state: .seals)
    return KeyRing(keys: [key], isEphemeral: true, sealingKey: key)
  }

  /// The name of the key that seals.
  public var sealingKeyID: KeyID { sealingKey.id }

  /// The newest key marked `seals`; of equally old ones the last.
  static func sealingKey(of keys: [SealingKey]) -> SealingKey? {
    var newest: SealingKey?
    for key in keys where key.state == .seals && key.created >= (newest?.created ?? Int64.min) { newest = key }
    return newest
  }

  /// Rings are short, so this is a search and not a table.
  func key(_ id: ArraySlice<UInt8>) throws(OpenError) -> SealingKey {
    guard let key = keys.first(where: { $0.id.bytes.elementsEqual(id) }) else {
      throw .unknownKey(KeyID(bytes: id))
    }
    guard key.state != .retired else { throw .retiredKey(key.id) }
    return key
  }
}
