internal import Cryptography
public import OAuth

/// The place of a sealed value (for example an entry of the store), and optionally a secret that is needed to open the
/// value. The value can be opened only with the same binding, so an attacker with write access to the store cannot move
/// a value from one entry to another.
public struct SealBinding: Sendable {
  /// The data that identifies the place. It is authenticated together with the value. All bindings of one purpose have
  /// data of the same length.
  let data: [UInt8]
  /// The SHA-256 digest of a secret; empty if the binding has no secret. The message key is derived from this digest
  /// and from the key of the ring.
  let secretDigest: [UInt8]

  /// Creates a binding. It keeps only the SHA-256 digest of the secret.
  ///
  /// - Parameters:
  ///   - data: identifies the place; must have a fixed length for each purpose.
  ///   - secret: a text that is needed to open the value, in addition to the keys of the ring.
  public init(data: [UInt8], secret: Secret? = nil) {
    self.data = data
    guard let secret else {
      secretDigest = []
      return
    }
    var text = Array(secret.reveal().utf8)
    secretDigest = sha256(text)
    wipe(&text)
  }
}
