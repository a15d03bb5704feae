internal import Cryptography
public import OAuth

/// The place to which a sealed value belongs, such as an entry of the store. The value opens only with an equal
/// binding, so an attacker with write access to the store cannot move a value from one entry to another.
public struct SealBinding: Sendable {
  /// The data that is authenticated with the value. All bindings of one purpose have data of the same length.
  let data: [UInt8]
  /// The digest of a secret from which the message key is derived, in addition to the key of the ring; empty without a
  /// secret.
  let digest: [UInt8]

  /// Creates a binding. The secret is not kept, only its SHA-256 digest.
  ///
  /// - Parameters:
  ///   - data: identifies the place; of a fixed length for each purpose.
  ///   - secret: a text that is needed to open the value, in addition to the keys of the ring.
  public init(data: [UInt8], secret: Secret? = nil) {
    self.data = data
    guard let secret else {
      digest = []
      return
    }
    var text = Array(secret.reveal().utf8)
    digest = sha256(text)
    wipe(&text)
  }
}
