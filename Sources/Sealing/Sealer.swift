internal import ByteText
public import Cryptography

/// Seals values that leave the gateway and come back later, and opens them again. To seal is to encrypt and
/// authenticate; to open is to verify and decrypt. A sealer also derives the names of store entries from secrets
/// (`storeNames(of:)`), because this needs the same keys.
///
///     base64url( version | magic | key id | salt | AES-256-GCM ciphertext and tag )
///          bytes:    1        3       4      16            n + 16
///
/// Each value is encrypted with a key of its own, the message key. The message key is derived with HKDF-SHA256 from the
/// key of the ring, the purpose, the salt and the secret of the binding if there is one (docs/adr/0015). The nonce is
/// the first 12 bytes of the salt.
///
/// Version, key id, purpose, issuer and the data of the binding are associated data. The salt is authenticated too,
/// because key and nonce depend on it. The magic bytes distinguish sealed values from other texts: a random text has
/// the right version and magic bytes with a probability of 2^-32. Only a text with both can fail with
/// `OpenError.unknownKey`, for which the gateway answers 503.
///
/// A sealer is not `Sendable`: its OpenSSL contexts must be used on one thread only, so each worker has a sealer of its
/// own.
public final class Sealer {
  private static let version: UInt8 = 1
  /// Three bytes that were chosen at random and never change.
  private static let magic: [UInt8] = [0x9d, 0x5c, 0xe3]
  /// The byte between the issuer and the data of a binding. An issuer cannot contain this byte, so associated data with
  /// a binding never equals associated data of another issuer.
  private static let bindingSeparator: UInt8 = 0
  private static let keyIDOffset = 1 + magic.count
  private static let saltLength = 16
  /// The range of the nonce in the salt.
  private static let nonceRange = 0..<AES256GCM.nonceLength
  private static let headerLength = keyIDOffset + KeyID.byteCount + saltLength
  private static let minimumEnvelopeLength = headerLength + AES256GCM.tagLength
  /// The maximum length of a sealed text in characters. `open` does not decode a longer text, and the gateway creates
  /// only shorter ones.
  public static let maximumLength = 65_536

  /// The keys that seal and open. A reload creates a new sealer.
  public let keyRing: KeyRing
  /// The extracted key (RFC 5869, section 2.2) of each key that is not retired. These keys are kept because extracting
  /// one takes longer than all other steps of sealing.
  private let extractedKeys: [(id: KeyID, hkdf: HKDFSHA256)]
  /// The extracted key of the key that seals.
  let sealingHKDF: HKDFSHA256
  /// The beginning of each envelope that is sealed: version, magic bytes and the id of the key that seals.
  private let sealedPrefix: [UInt8]
  /// The associated data of the last value, without the data of its binding. It is reused for the next value: only the
  /// key id and the purpose differ.
  var associatedDataPrefix: [UInt8]
  /// The `info` of the last derivation, kept to reuse its memory.
  private var info: [UInt8] = []
  private let cipher = AES256GCM()
  private let random: RandomPool

  /// Creates a sealer with the keys of a ring.
  ///
  /// - Parameters:
  ///   - keyRing: the keys to seal and open with.
  ///   - issuer: the issuer identifier of the gateway. A value of one issuer cannot be opened for another.
  ///   - random: the source of the salts.
  public init(keyRing: KeyRing, issuer: String, random: RandomPool = RandomPool()) {
    self.keyRing = keyRing
    extractedKeys = keyRing.keys.filter { $0.state != .retired }.map { ($0.id, HKDFSHA256(key: $0.secret)) }
    sealingHKDF = Sealer.extractedKey(keyRing.sealingKeyID, in: extractedKeys)
    self.random = random
    sealedPrefix = [Sealer.version] + Sealer.magic + keyRing.sealingKeyID.bytes
    associatedDataPrefix = [Sealer.version] + [UInt8](repeating: 0, count: KeyID.byteCount + 1) + issuer.utf8
  }

  /// Returns the length, in characters, of a sealed payload of `count` bytes.
  public static func sealedLength(ofPayload count: Int) -> Int { ((minimumEnvelopeLength + count) * 4 + 2) / 3 }

  /// Seals `payload` and returns the result in base64url. Each call returns a different text.
  ///
  /// - Parameter binding: the place to which the value is bound; `nil` for a value that leaves the gateway.
  public func seal(_ payload: [UInt8], for purpose: Purpose, in binding: SealBinding? = nil) -> String {
    seal(payload, for: purpose, in: binding, salt: random.take(Sealer.saltLength))
  }

  /// Seals `payload` with a salt. The same salt must not be used for two payloads.
  func seal(_ payload: [UInt8], for purpose: Purpose, in binding: SealBinding?, salt: [UInt8]) -> String {
    var messageKey = messageKey(sealingHKDF, purpose, salt.span, binding)
    defer { wipe(&messageKey) }
    var envelope: [UInt8] = []
    envelope.reserveCapacity(Sealer.minimumEnvelopeLength + payload.count)
    let prefix = sealedPrefix
    envelope.append(copying: prefix.span)
    envelope.append(copying: salt.span)
    cipher.seal(
      payload, key: messageKey, nonce: salt.span.extracting(Sealer.nonceRange),
      authenticating: associatedData(keyRing.sealingKeyID, purpose, binding), onto: &envelope)
    return Base64URL.encode(envelope)
  }

  /// Opens `text` and returns its payload. Throws `OpenError`.
  public func open(
    _ text: String, as purpose: Purpose, in binding: SealBinding? = nil
  ) throws(OpenError) -> [UInt8] {
    let envelope = try Sealer.envelope(of: text)
    let saltOffset = Sealer.keyIDOffset + KeyID.byteCount
    let key = try keyRing.key(envelope[Sealer.keyIDOffset..<saltOffset])
    let salt = envelope.span.extracting(saltOffset..<Sealer.headerLength)
    var messageKey = messageKey(Sealer.extractedKey(key.id, in: extractedKeys), purpose, salt, binding)
    defer { wipe(&messageKey) }
    let payload = cipher.open(
      envelope.span.extracting(Sealer.headerLength...), key: messageKey, nonce: salt.extracting(Sealer.nonceRange),
      authenticating: associatedData(key.id, purpose, binding))
    guard let payload else { throw .notAuthentic }
    return payload
  }

  /// Returns true if a sealed value may have the length of `text`. Most `state` values that clients choose are shorter,
  /// so checking the length first saves work.
  @inline(__always)
  static func hasSealedLength(_ text: String) -> Bool {
    let count = text.utf8.count
    return count >= sealedLength(ofPayload: 0) && count <= maximumLength
  }

  private static func envelope(of text: String) throws(OpenError) -> [UInt8] {
    guard Sealer.hasSealedLength(text), let envelope = Base64URL.decode(text), envelope.first == Sealer.version,
      envelope[1..<Sealer.keyIDOffset].elementsEqual(Sealer.magic)
    else { throw .malformed }
    return envelope
  }

  /// Returns the extracted key of the key that sealed `text`. Does not verify that the text is authentic.
  func sealingHKDF(of text: String) throws(OpenError) -> HKDFSHA256 {
    let envelope = try Sealer.envelope(of: text)
    let key = try keyRing.key(envelope[Sealer.keyIDOffset..<Sealer.keyIDOffset + KeyID.byteCount])
    return Sealer.extractedKey(key.id, in: extractedKeys)
  }

  /// Returns the salt of a registration: the first 16 bytes of an HMAC-SHA256 of the purpose, the issuer and the
  /// content, under a key that is derived for this alone.
  func syntheticSalt(of payload: [UInt8]) -> [UInt8] {
    var key = sealingHKDF.expand(info: Array("proofgate synthetic salt".utf8), length: 32)
    defer { wipe(&key) }
    let issuer = associatedDataPrefix[(2 + KeyID.byteCount)...]
    let message = [Purpose.registration.rawValue] + issuer + [Sealer.bindingSeparator] + payload
    return Array(hmacSHA256(key: key, message: message).prefix(Sealer.saltLength))
  }

  /// Returns the names under which the store may have an entry for a secret: an HMAC-SHA256 of the secret under each
  /// key that is not retired. Without a key of the ring, the secret cannot be guessed from a name.
  ///
  /// New entries use the first name, which belongs to the sealing key. An entry that was stored before a rotation has
  /// one of the other names.
  public func storeNames(of secret: [UInt8]) -> [[UInt8]] {
    let info = Sealer.storeNamePrefix + secret
    let first = extractedKeys.filter { $0.id == keyRing.sealingKeyID }
    let others = extractedKeys.filter { $0.id != keyRing.sealingKeyID }
    // Expanding one block is one HMAC under the extracted key (RFC 5869, section 2.3).
    return (first + others).map { $0.hkdf.expand(info: info, length: 32) }
  }

  /// The beginning of the `info` for store names. The `info` of a message key never begins with it.
  private static let storeNamePrefix = Array("proofgate store name ".utf8)

  /// Returns the extracted key with this id. The caller passes only the id of a key that is not retired.
  private static func extractedKey(_ id: KeyID, in keys: [(id: KeyID, hkdf: HKDFSHA256)]) -> HKDFSHA256 {
    guard let hkdf = keys.first(where: { $0.id == id })?.hkdf else {
      preconditionFailure("a retired key has no derivation")
    }
    return hkdf
  }

  /// Returns the message key of one value. Salt and digest have fixed lengths, so the `info` differs if the purpose,
  /// the salt or the digest differs.
  private func messageKey(
    _ hkdf: HKDFSHA256, _ purpose: Purpose, _ salt: Span<UInt8>, _ binding: SealBinding?
  ) -> [UInt8] {
    info.removeAll(keepingCapacity: true)
    info.append(copying: purpose.info.span)
    info.append(copying: salt)
    if let binding { info.append(contentsOf: binding.secretDigest) }
    return hkdf.expand(info: info, length: AES256GCM.keyLength)
  }

  /// Returns the associated data: version, key id, purpose, issuer and the data of the binding. All parts except the
  /// issuer have fixed lengths for each purpose, and a separator follows the issuer, so two values have the same
  /// associated data only if all parts are equal.
  private func associatedData(_ id: KeyID, _ purpose: Purpose, _ binding: SealBinding?) -> [UInt8] {
    for index in 0..<KeyID.byteCount { associatedDataPrefix[1 + index] = id.bytes[index] }
    associatedDataPrefix[1 + KeyID.byteCount] = purpose.rawValue
    guard let binding else { return associatedDataPrefix }
    return associatedDataPrefix + [Sealer.bindingSeparator] + binding.data
  }
}
