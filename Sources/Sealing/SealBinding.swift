internal import Cryptography
public import OAuth

/// The location to which a sealed value is bound, such as an entry of the store. The value can be opened only with an
/// equal binding, so an attacker with write access to the store cannot move a value from one entry to another.
public struct SealBinding: Sendable {
  /// The data that identifies the location. It is authenticated with the value. All bindings of one purpose have data
  /// of the same length.
  let data: [UInt8]
  /// The SHA-256 digest of a secret from which the message key is derived, in addition to the key of the ring; empty if
  /// the binding has no secret.
  let digest: [UInt8]

  /// Creates a binding. It keeps only the SHA-256 digest of the secret.
  ///
  /// - Parameters:
  ///   - data: identifies the location; must have a fixed length for each purpose.
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
