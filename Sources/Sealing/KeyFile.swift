internal import ByteText
internal import Cryptography
public import Time

/// A file of sealing keys, which all replicas share. To seal is to encrypt and authenticate; to open is to verify and
/// decrypt. The file contains comments, and one key per line:
///
///     # id       created               key                                          state   sealed until
///     3f9a01c2   2026-11-21T08:30:00Z  AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8  opens   2027-02-01T09:00:00Z
///     a41c77e0   2027-02-01T08:30:00Z  IB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE  seals
///
/// A key is 32 bytes in base64url. A retired key has `-` instead, because only its id is still needed. The time in the
/// last column is that of the rotation in which the key ceased to seal (`retirement`). The caller reads and writes the
/// file itself; this type parses and creates its text.
public struct KeyFile: Sendable {
  /// All keys in the order of the file, including the retired ones.
  public private(set) var keys: [SealingKey]
  /// The keys for the ids of registered clients (RFC 7591), in the order of the file. Their lines begin with the word
  /// `registration`. They are rotated and retired like the other keys, but separately: an id has no expiry.
  public private(set) var registrationKeys: [SealingKey]

  /// Returns a new file with one key in the state `seals`.
  ///
  /// - Parameters:
  ///   - now: the current time.
  ///   - withRegistrationKey: true to add a key for the ids of registered clients.
  public static func generate(now: UnixTime, withRegistrationKey: Bool = false) -> KeyFile {
    var file = KeyFile(keys: [SealingKey.generate(created: now, state: .seals)])
    if withRegistrationKey { _ = file.rotateRegistration(now: now) }
    return file
  }

  init(keys: [SealingKey], registrationKeys: [SealingKey] = []) {
    self.keys = keys
    self.registrationKeys = registrationKeys
  }

  /// The registration keys as a file of their own, for the functions that work on keys.
  var registrationFile: KeyFile { KeyFile(keys: registrationKeys) }

  /// The key ring for a `Sealer`; `nil` if no key has the state `seals`. `init(parsing:)` rejects a file without such a
  /// key.
  public var ring: KeyRing? { KeyRing(keys: keys, registrationKeys: registrationKeys, isEphemeral: false) }

  /// The key that seals new values; `nil` if no key has the state `seals`.
  var sealingKey: SealingKey? { KeyRing.sealingKey(of: keys) }

  /// Returns the text of the file. It contains the secrets.
  public func render() -> String {
    var text = """
      # Sealing keys of Proofgate. Keep this file secret: with it, one can forge codes and refresh tokens.
      # A new key only opens; once every replica has loaded it, it may seal. Values of a retired key are refused.
      #
      # id       created               key                                          state   sealed until

      """
    for (index, key) in (keys + registrationKeys).enumerated() {
      if index >= keys.count { text += KeyFile.registrationWord + " " }
      let secret = key.state == .retired ? "-" : Base64URL.encode(key.secret)
      let padding = String(repeating: " ", count: 43 - min(43, secret.utf8.count))
      text += "\(key.id)   \(key.created.text)  \(secret)\(padding)  \(key.state.rawValue)"
      if let sealedUntil = key.sealedUntil {
        text += String(repeating: " ", count: 8 - key.state.rawValue.utf8.count) + sealedUntil.text
      }
      text += "\n"
    }
    return text
  }

  /// The first word of the line of a registration key.
  static let registrationWord = "registration"

  /// Performs the next step of a rotation of the registration keys. If there is none, adds one that seals: no replica
  /// has issued an id yet.
  ///
  /// - Parameter now: the current time.
  public mutating func rotateRegistration(now: UnixTime) -> Rotation {
    var file = registrationFile
    let rotation: Rotation
    if file.sealingKey == nil {
      var key = SealingKey.generate(created: now, state: .seals)
      while hasKey(key.id) { key = SealingKey.generate(created: now, state: .seals) }
      file.keys.append(key)
      rotation = .promoted(key.id)
    } else {
      rotation = file.rotate(now: now)
    }
    registrationKeys = file.keys
    return rotation
  }

  private func hasKey(_ id: KeyID) -> Bool { (keys + registrationKeys).contains { $0.id == id } }

  /// The result of a rotation.
  public enum Rotation: Hashable, Sendable {
    /// A new key was added. It only opens values, and the old key still seals. The operator loads the file on every
    /// replica and then rotates again.
    case added(KeyID)
    /// The key that the previous step added now seals. The old key still opens values.
    case promoted(KeyID)
  }

  /// Performs the next step of a rotation. The first step adds a key that only opens values. The second step gives this
  /// key the state `seals`.
  ///
  /// A rotation has two steps because every replica must have loaded a key before any replica seals with it. Otherwise
  /// a sign-in could fail at a replica that does not know the key.
  ///
  /// Records, for each key that ceases to seal, the time until which it sealed.
  ///
  /// - Parameter now: the current time.
  public mutating func rotate(now: UnixTime) -> Rotation {
    let sealingKeyCreated = sealingKey?.created ?? UnixTime(seconds: .min)
    let waitingKeyIndex = waitingKeyIndex
    // An earlier version of the program did not record `sealedUntil` for the keys that it replaced. These keys ceased
    // to seal in the past, so the current time is not too early.
    for index in keys.indices where index != waitingKeyIndex && keys[index].state == .opens {
      if keys[index].sealedUntil == nil { keys[index].sealedUntil = max(now, keys[index].created) }
    }
    guard let waitingKeyIndex else {
      var key = SealingKey.generate(created: max(now, sealingKeyCreated), state: .opens)
      while keys.contains(where: { $0.id == key.id }) { key = SealingKey.generate(created: key.created, state: .opens) }
      keys.append(key)
      return .added(key.id)
    }
    for index in keys.indices where keys[index].state == .seals {
      keys[index].state = .opens
      keys[index].sealedUntil = max(now, keys[index].created)
    }
    keys[waitingKeyIndex].state = .seals
    return .promoted(keys[waitingKeyIndex].id)
  }

  /// The index of the key that has never sealed and that the next rotation lets seal; `nil` if the next rotation adds a
  /// key.
  var waitingKeyIndex: Int? {
    let sealingKeyCreated = sealingKey?.created ?? UnixTime(seconds: .min)
    // A key that an earlier rotation replaced also has the state `opens`, but must not seal again. Such a key has
    // `sealedUntil`, or may lack this time if an earlier version of the program replaced the key. A key without
    // `sealedUntil` was replaced if it is in front of the sealing key in the file, or was created before the sealing
    // key.
    let lastSealingIndex = keys.lastIndex { $0.state == .seals } ?? -1
    return keys.indices.last {
      $0 > lastSealingIndex && keys[$0].state == .opens && keys[$0].sealedUntil == nil
        && keys[$0].created >= sealingKeyCreated
    }
  }

  /// Retires a key and erases its secret. Returns `false`, and changes nothing, for an unknown key and for the key that
  /// seals.
  public mutating func retire(_ id: KeyID) -> Bool {
    if registrationKeys.contains(where: { $0.id == id }) {
      var file = registrationFile
      let isRetired = file.retire(id)
      registrationKeys = file.keys
      return isRetired
    }
    guard let index = keys.firstIndex(where: { $0.id == id }), id != sealingKey?.id else { return false }
    keys[index].state = .retired
    wipe(&keys[index].secret)
    return true
  }
}
