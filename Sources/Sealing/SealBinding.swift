internal import Cryptography
public import OAuth

/// The one place that a sealed value belongs to, such as an entry of the store. It opens only with an equal binding, so a
/// writer of the store cannot put one entry's value into another.
public struct SealBinding: Sendable {
  /// Authenticated with the value. All bindings of one purpose have data of one length.
  let data: [UInt8]
  /// The digest of a secret that the message key is derived from, next to the ring's key; empty without a secret.
  let digest: [UInt8]

  /// - Parameter secret: A text that is needed to open the value, in addition to the ring's keys.
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
