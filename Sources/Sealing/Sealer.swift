internal import Bytes
public import Cryptography

/// A sealer of values that leave the gateway and come back, which also opens them again.
///
///     base64url( version | mark | key id | salt | AES-256-GCM ciphertext and tag )
///          bytes:    1       3       4      16            n + 16
///
/// The message key is derived with HKDF-SHA256 from the key of the ring, the purpose and the salt (docs/adr/0015). Each
/// message has its own key, so no nonce can repeat under one key. The nonce is the first part of the salt.
///
/// Version, key id, purpose and issuer are associated data; the salt is authenticated because key and nonce depend on
/// it. The mark distinguishes sealed values from other texts: a foreign text has both version and mark with a chance of
/// 2^-32. Only a matching text can fail for an unknown key, which the gateway answers with 503.
///
/// Not sendable: its contexts serve one thread, so each worker owns one.
public final class Sealer {
  private static let version: UInt8 = 1
  /// Three bytes that were chosen at random and never change.
  private static let mark: [UInt8] = [0x9d, 0x5c, 0xe3]
  /// Separates issuer and binding. An issuer cannot contain this byte, so a bound value never equals a value of another
  /// issuer.
  private static let bound: UInt8 = 0
  private static let keyOffset = 1 + mark.count
  private static let saltLength = 16
  /// The range of the nonce in the salt.
  private static let nonce = 0..<AES256GCM.nonceLength
  private static let headerLength = keyOffset + KeyID.byteCount + saltLength
  private static let shortest = headerLength + AES256GCM.tagLength
  /// The maximum length of a sealed text in characters. All sealed values are much shorter, so a longer text is not
  /// decoded.
  public static let longest = 65_536

  /// The keys in use. A reload creates a new sealer.
  public let keyRing: KeyRing
  /// The extracted key of each ring key that is not retired. Extracting takes longer than all other steps of sealing.
  private let derivations: [(id: KeyID, hkdf: HKDFSHA256)]
  /// The associated data of the last value. Its issuer part is the same for all values.
  private var data: [UInt8]
  /// The input of the last derivation, kept to reuse its memory.
  private var info: [UInt8] = []
  private let cipher = AES256GCM()
  private let random: RandomPool

  /// Creates a sealer with the keys of a ring.
  ///
  /// - Parameters:
  ///   - keyRing: the keys to seal and open with.
  ///   - issuer: the issuer identifier of the gateway; values of one issuer do not open for another.
  ///   - random: the source of the salts.
  public init(keyRing: KeyRing, issuer: String, random: RandomPool = RandomPool()) {
    self.keyRing = keyRing
    derivations = keyRing.keys.filter { $0.state != .retired }.map { ($0.id, HKDFSHA256(key: $0.secret)) }
    self.random = random
    data = [Sealer.version] + [UInt8](repeating: 0, count: KeyID.byteCount + 1) + issuer.utf8
  }

  /// Returns the length, in characters, of a sealed payload of `count` bytes.
  public static func sealedLength(ofPayload count: Int) -> Int { ((shortest + count) * 4 + 2) / 3 }

  /// Returns `payload` sealed, as text in the base64url alphabet; each call returns a different text.
  ///
  /// - Parameter binding: the place to which the value belongs; `nil` for a value that leaves the gateway.
  public func seal(_ payload: [UInt8], for purpose: Purpose, in binding: SealBinding? = nil) -> String {
    let key = keyRing.sealingKey
    let salt = random.take(Sealer.saltLength)
    var messageKey = messageKey(key.id, purpose, salt.span, binding)
    defer { wipe(&messageKey) }
    var envelope: [UInt8] = []
    envelope.reserveCapacity(Sealer.shortest + payload.count)
    envelope.append(Sealer.version)
    envelope.append(copying: Sealer.mark.span)
    envelope.append(copying: key.id.bytes.span)
    envelope.append(copying: salt.span)
    cipher.seal(
      payload, key: messageKey, nonce: salt.span.extracting(Sealer.nonce),
      authenticating: associatedData(key.id, purpose, binding), onto: &envelope)
    return Base64URL.encode(envelope)
  }

  /// Returns the payload from which `text` was sealed. Throws `OpenError`.
  public func open(
    _ text: String, as purpose: Purpose, in binding: SealBinding? = nil
  ) throws(OpenError) -> [UInt8] {
    // The length alone rules out most `state` values that clients chose.
    let lengths = Sealer.sealedLength(ofPayload: 0)...Sealer.longest
    guard lengths.contains(text.utf8.count), let envelope = Base64URL.decode(text), envelope.first == Sealer.version,
      envelope[1..<Sealer.keyOffset].elementsEqual(Sealer.mark)
    else { throw .malformed }
    let saltOffset = Sealer.keyOffset + KeyID.byteCount
    let key = try keyRing.key(envelope[Sealer.keyOffset..<saltOffset])
    let salt = envelope.span.extracting(saltOffset..<Sealer.headerLength)
    var messageKey = messageKey(key.id, purpose, salt, binding)
    defer { wipe(&messageKey) }
    let payload = cipher.open(
      envelope.span.extracting(Sealer.headerLength...), key: messageKey, nonce: salt.extracting(Sealer.nonce),
      authenticating: associatedData(key.id, purpose, binding))
    guard let payload else { throw .notAuthentic }
    return payload
  }

  /// Returns the names of a secret in the store, from which it cannot be guessed without a key of the ring: its
  /// HMAC-SHA256 under each key that opens. The name under the sealing key is first; an entry that was stored before a
  /// rotation has one of the later names.
  public func storeNames(of secret: [UInt8]) -> [[UInt8]] {
    let info = Sealer.storeName + secret
    let first = derivations.filter { $0.id == keyRing.sealingKeyID }
    let others = derivations.filter { $0.id != keyRing.sealingKeyID }
    // Expanding one block is one HMAC under the extracted key (RFC 5869, section 2.3).
    return (first + others).map { $0.hkdf.expand(info: info, length: 32) }
  }

  /// The prefix of the input for store names. The `info` of no purpose begins with it.
  private static let storeName = Array("proofgate store name ".utf8)

  /// Returns the key of one message. Salt and digest have fixed lengths, so different parts never give the same input.
  private func messageKey(_ id: KeyID, _ purpose: Purpose, _ salt: Span<UInt8>, _ binding: SealBinding?) -> [UInt8] {
    guard let hkdf = derivations.first(where: { $0.id == id })?.hkdf else {
      preconditionFailure("a retired key has no derivation")
    }
    info.removeAll(keepingCapacity: true)
    info.append(copying: purpose.info.span)
    info.append(copying: salt)
    if let binding { info.append(contentsOf: binding.digest) }
    return hkdf.expand(info: info, length: AES256GCM.keyLength)
  }

  /// Returns version, key id, purpose, issuer and binding. All parts before the issuer have fixed lengths, and so do
  /// the bindings of a purpose; therefore different parts never give the same bytes.
  private func associatedData(_ id: KeyID, _ purpose: Purpose, _ binding: SealBinding?) -> [UInt8] {
    for index in 0..<KeyID.byteCount { data[1 + index] = id.bytes[index] }
    data[1 + KeyID.byteCount] = purpose.rawValue
    guard let binding else { return data }
    return data + [Sealer.bound] + binding.data
  }
}
