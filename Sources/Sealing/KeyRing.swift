public import Time

/// The sealing keys of a deployment. One key seals new values, and every key that is not retired opens values.
///
/// To seal is to encrypt and authenticate; to open is to verify and decrypt. A ring is immutable; a reload replaces it.
/// Its initialiser ensures that one key seals, and `KeyFile` ensures that no two keys have the same id.
public struct KeyRing: Sendable {
  /// All keys in the order of the file, including retired ones.
  public let keys: [SealingKey]
  /// True if only this process has the keys, so that values sealed with them cannot be opened after a restart.
  public let isEphemeral: Bool
  let sealingKey: SealingKey
  /// The keys for the ids of registered clients, which seal nothing else, so that they can be rotated and retired
  /// separately.
  let registrationKeys: [SealingKey]

  /// Creates a ring. The result is `nil` if no key has the state `seals`.
  init?(keys: [SealingKey], registrationKeys: [SealingKey] = [], isEphemeral: Bool) {
    guard let sealingKey = KeyRing.sealingKey(of: keys) else { return nil }
    self.init(keys: keys, registrationKeys: registrationKeys, isEphemeral: isEphemeral, sealingKey: sealingKey)
  }

  private init(keys: [SealingKey], registrationKeys: [SealingKey], isEphemeral: Bool, sealingKey: SealingKey) {
    self.keys = keys
    self.registrationKeys = registrationKeys
    self.isEphemeral = isEphemeral
    self.sealingKey = sealingKey
  }

  /// Returns a ring with random keys that no other process has.
  ///
  /// - Parameter now: the current time.
  public static func ephemeral(now: UnixTime) -> KeyRing {
    let key = SealingKey.generate(created: now, state: .seals)
    let registrationKey = SealingKey.generate(created: now, state: .seals)
    return KeyRing(keys: [key], registrationKeys: [registrationKey], isEphemeral: true, sealingKey: key)
  }

  /// The ring for the ids of registered clients; `nil` if there is no key for them.
  public var registration: KeyRing? { KeyRing(keys: registrationKeys, isEphemeral: isEphemeral) }

  /// The id of the key that seals.
  public var sealingKeyID: KeyID { sealingKey.id }

  /// Returns the newest key in the state `seals`; `nil` if no key has this state. If several were created at the same
  /// time, returns the last of them.
  static func sealingKey(of keys: [SealingKey]) -> SealingKey? {
    var newest: SealingKey?
    for key in keys where key.state == .seals && key.created >= (newest?.created ?? UnixTime(seconds: .min)) {
      newest = key
    }
    return newest
  }

  /// Returns the key with this id. Throws `.unknownKey` or `.retiredKey`.
  func key(_ id: ArraySlice<UInt8>) throws(OpenError) -> SealingKey {
    guard let key = keys.first(where: { $0.id.bytes.elementsEqual(id) }) else {
      throw .unknownKey(KeyID(bytes: id))
    }
    guard key.state != .retired else { throw .retiredKey(key.id) }
    return key
  }
}
