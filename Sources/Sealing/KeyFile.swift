internal import Cryptography

/// A file of sealing keys that replicas share: comments, and one key per line.
///
///     # id       created               key                                          state
///     3f9a01c2   2026-11-21T08:30:00Z  AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8  seals
///
/// Keys are 32 bytes in base64url. A retired key has `-` instead, because only its id is still needed. The caller reads
/// and writes the file itself.
public struct KeyFile: Sendable {
  /// All keys in the order of the file, including the retired ones.
  public private(set) var keys: [SealingKey]

  /// Returns a new file with one key, which seals.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  public static func generate(now: Int64) -> KeyFile {
    KeyFile(keys: [SealingKey.generate(created: now, state: .seals)])
  }

  init(keys: [SealingKey]) {
    self.keys = keys
  }

  /// The ring to seal and open with; `nil` when no key seals, which `init(parsing:)` rejects.
  public var ring: KeyRing? { KeyRing(keys: keys, isEphemeral: false) }

  /// The key that seals; `nil` without one.
  var sealingKey: SealingKey? { KeyRing.sealingKey(of: keys) }

  /// Returns the text of the file. It contains the secrets.
  public func render() -> String {
    var text = """
      # Sealing keys of Proofgate. Keep this file secret: with it, one can forge codes and refresh tokens.
      # A new key only opens; once every replica has loaded it, it may seal. Values of a retired key are refused.
      #
      # id       created               key                                          state

      """
    for key in keys {
      let secret = key.state == .retired ? "-" : Base64URL.encode(key.secret)
      let padding = String(repeating: " ", count: 43 - min(43, secret.utf8.count))
      text += "\(key.id)   \(UTCTime.text(key.created))  \(secret)\(padding)  \(key.state.rawValue)\n"
    }
    return text
  }

  /// The result of a rotation.
  public enum Rotation: Hashable, Sendable {
    /// A new key was added, which only opens; the old key still seals. Load the file on every replica, then rotate
    /// again.
    case added(KeyID)
    /// The key of the previous step now seals; the old key still opens.
    case promoted(KeyID)
  }

  /// Performs the next step of a rotation: adds a key that opens, or lets the newest such key seal.
  ///
  /// There are two steps because flows fail on a replica that has not loaded the key with which another replica seals.
  ///
  /// - Parameter now: the current time in seconds since 1970.
  public mutating func rotate(now: Int64) -> Rotation {
    let since = sealingKey?.created ?? Int64.min
    // Older keys are skipped: a key that an earlier rotation replaced also has the state `opens`, and must not seal
    // again.
    let seals = keys.lastIndex { $0.state == .seals } ?? -1
    let waiting = keys.indices.last { $0 > seals && keys[$0].state == .opens && keys[$0].created >= since }
    guard let waiting else {
      var key = SealingKey.generate(created: max(now, since), state: .opens)
      while keys.contains(where: { $0.id == key.id }) { key = SealingKey.generate(created: key.created, state: .opens) }
      keys.append(key)
      return .added(key.id)
    }
    for index in keys.indices where keys[index].state == .seals { keys[index].state = .opens }
    keys[waiting].state = .seals
    return .promoted(keys[waiting].id)
  }

  /// Retires a key and erases its secret. Returns `false` for an unknown key and for the key that seals.
  public mutating func retire(_ id: KeyID) -> Bool {
    guard let index = keys.firstIndex(where: { $0.id == id }), id != sealingKey?.id else { return false }
    keys[index].state = .retired
    wipe(&keys[index].secret)
    return true
  }
}
