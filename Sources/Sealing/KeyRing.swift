internal import Cryptography

/// The sealing keys of a deployment: one key seals, and all keys that are not retired open.
///
/// A ring is immutable; a reload replaces it. A ring is always valid: `KeyFile` guarantees that the ids differ and that
/// one key seals.
public struct KeyRing: Sendable {
  /// All keys in the order of the file, with their secrets.
  public let keys: [SealingKey]
  /// True if the keys end with the process, so that values sealed with them cannot be opened after a restart.
  public let isEphemeral: Bool
  let sealingKey: SealingKey

  /// Creates a ring; `nil` when no key seals.
  init?(keys: [SealingKey], isEphemeral: Bool) {
    guard let sealingKey = KeyRing.sealingKey(of: keys) else { return nil }
    self.init(keys: keys, isEphemeral: isEphemeral, sealingKey: sealingKey)
  }

  private init(keys: [SealingKey], isEphemeral: Bool, sealingKey: SealingKey) {
    self.keys = keys
    self.isEphemeral = isEphemeral
    self.sealingKey = sealingKey
  }

  /// Returns a ring with one random key that no other process has.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  public static func ephemeral(now: Int64) -> KeyRing {
    let key = SealingKey.generate(created: now, state: .seals)
    return KeyRing(keys: [key], isEphemeral: true, sealingKey: key)
  }

  /// The id of the key that seals.
  public var sealingKeyID: KeyID { sealingKey.id }

  /// Returns the newest key in the state `seals`; the last one in the file if several are equally old.
  static func sealingKey(of keys: [SealingKey]) -> SealingKey? {
    var newest: SealingKey?
    for key in keys where key.state == .seals && key.created >= (newest?.created ?? Int64.min) { newest = key }
    return newest
  }

  /// Returns the key with this id. Throws `.unknownKey` or `.retiredKey`. A linear search, because a ring has few keys.
  func key(_ id: ArraySlice<UInt8>) throws(OpenError) -> SealingKey {
    guard let key = keys.first(where: { $0.id.bytes.elementsEqual(id) }) else {
      throw .unknownKey(KeyID(bytes: id))
    }
    guard key.state != .retired else { throw .retiredKey(key.id) }
    return key
  }
}
