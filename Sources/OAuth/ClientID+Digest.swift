internal import ByteText
import Cryptography

/// The short form of an id that the gateway issued (`ClientRegistration`): `pg1.digest.` and a digest of the id.
///
/// An issued id has up to 1,024 characters, because it contains the metadata of the client. The state and the code of a
/// sign-in, which servers limit, and the log name the client by the short form. A request can never use it as a
/// `client_id`: it is not a sealed value, and no client of a policy may have an id with this beginning.
extension ClientID {
  /// The length of the digest in bytes. 128 bits are enough, because only a second id with the digest of a given one
  /// would be of use to an attacker, and the gateway makes the ids.
  public static let digestLength = 16

  private static let digestPrefix = issuedPrefix + "digest."

  /// The short form of an issued id. Any other id, and a short form, is returned unchanged.
  public var shortForm: ClientID {
    // Most ids are those of a policy.
    guard rawValue.utf8.first == UInt8(ascii: "p"), ClientID.isIssued(rawValue), digest == nil else { return self }
    return ClientID(digest: sha256(Array(rawValue.utf8)).prefix(ClientID.digestLength))
  }

  /// The digest in a short form; `nil` for any other id.
  public var digest: [UInt8]? {
    guard rawValue.hasPrefix(ClientID.digestPrefix),
      let bytes = Base64URL.decode(String(Substring(rawValue.utf8.dropFirst(ClientID.digestPrefix.utf8.count)))),
      bytes.count == ClientID.digestLength
    else { return nil }
    return bytes
  }

  /// Creates the short form with a digest.
  public init(digest: some Sequence<UInt8>) {
    self.init(ClientID.digestPrefix + Base64URL.encode(Array(digest)))
  }
}
