internal import Cryptography
public import OAuth

extension Sealer {
  /// Seals a registration. The result is the same for the same registration and key, so that a client that registers
  /// again gets its id again.
  ///
  /// Only this purpose has a synthetic salt: a MAC of the content under a key of its own. Two contents never share a
  /// salt, except with the probability of a collision of the MAC, so no message key and nonce are used for two
  /// different contents (docs/adr/0092). The sealer must have the keys for registration, which seal nothing else.
  public func seal(idempotently registration: ClientRegistration) -> String {
    var writer = PayloadWriter()
    registration.write(to: &writer)
    return seal(writer.bytes, for: .registration, in: nil, salt: syntheticSalt(of: writer.bytes))
  }
}
