internal import Cryptography

/// The file that replicas share their sealing keys with: comments, and one key a line.
///
///     # id       created               key                                          state
///     3f9a01c2   2026-11-21T08:30:00Z  AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8  seals
///
/// Keys are 32 bytes in base64url; a retired key has `-` instead, for its name is all that is still needed. Reading and
/// writing the file itself is the caller's.
public struct KeyFile: Sendable {
  /// In file order.
  public private(set) var keys: [SealingKey]

  /// A new file with one key, which seals.
  /// - Parameter now: seconds since 1970.
  public static func generate(now: Int64) -> KeyFile {
    KeyFile(keys: [SealingKey.generate(created: now, state: .seals)])
  }

  init(keys: [SealingKey]) {
    self.keys = keys
  }

  /// The ring to seal and open with; `nil` when no key seals, which `init(parsing:)` refuses.
  public var ring: KeyRing? { KeyRing(keys: keys, isEphemeral: false) }

  /// The key that seals, if any.
  var sealingKey: SealingKey? { KeyRing.sealingKey(of: keys) }

  /// The file's text, secrets inside.
  public func render() -> String {
    var text = """
      # Proofgate's sealing keys. Whoever reads this file can forge codes and refresh tokens: keep it secret.
      # A key opens first; once every replica has loaded it, it may seal. What a retired key sealed is refused.
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
    /// A new key that opens; the old one still seals. Load the file on every replica, then rotate again.
    case added(KeyID)
    /// The key that was added before seals now; the old one still opens.
    case promoted(KeyID)
  }

  /// Takes the next step of a rotation: adds a key that opens, or lets the newest such key seal.
  ///
  /// Two steps, because a replica that seals with a key that another has not loaded makes flows fail there.
  public mutating func rotate(now: Int64) -> Rotation {
    let since = sealingKey?.created ?? Int64.min
    // Not older: a key that was demoted by an earlier rotation also only opens, and must not seal again.
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

  /// Takes a key out of use and forgets its secret; `false` for an unknown key and for the one that seals.
  public mutating func retire(_ id: KeyID) -> Bool {
    guard let index = keys.firstIndex(where: { $0.id == id }), id != sealingKey?.id else { return false }
    keys[index].state = .retired
    wipe(&keys[index].secret)
    return true
  }
}
