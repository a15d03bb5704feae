internal import Bytes
public import Cryptography

/// Seals values that leave the gateway and come back, and opens them again.
///
///     base64url( version | mark | key id | salt | AES-256-GCM ciphertext and tag )
///          bytes:    1       3       4      16            n + 16
///
/// The message key is HKDF-SHA256 of the ring's key for the purpose and the salt (docs/adr/0015): a key per message, so
/// no nonce can repeat under one. The nonce is the front of the salt.
///
/// Version, key id, purpose and issuer are associated data; the salt is authenticated as part of key and nonce. The mark
/// distinguishes values that the gateway sealed from others: a value of theirs looks like one once in 2^32, and only then is
/// the question whether another replica knows its key.
///
/// Not sendable: its contexts serve one thread, so each worker owns a sealer.
public final class Sealer {
  private static let version: UInt8 = 1
  /// Chosen at random, once and for all.
  private static let mark: [UInt8] = [0x9d, 0x5c, 0xe3]
  /// Between the issuer and a binding. No issuer has this byte, so a bound value never reads as one of another issuer.
  private static let bound: UInt8 = 0
  private static let keyOffset = 1 + mark.count
  private static let saltLength = 16
  /// The place of the nonce in the salt.
  private static let nonce = 0..<AES256GCM.nonceLength
  private static let headerLength = keyOffset + KeyID.byteCount + saltLength
  private static let shortest = headerLength + AES256GCM.tagLength
  /// Characters. Nothing that the gateway seals comes near; longer input is not worth decoding.
  public static let longest = 65_536

  /// A reload makes another sealer.
  public let keyRing: KeyRing
  /// The derivation of message keys, for each key that is not retired: extracting takes longer than all that follows.
  private let derivations: [(id: KeyID, hkdf: HKDFSHA256)]
  /// The associated data of the value that was sealed or opened last: the issuer in it stays for the next.
  private var data: [UInt8]
  /// The input of the last derivation, whose memory is reused.
  private var info: [UInt8] = []
  private let cipher = AES256GCM()
  private let random: RandomPool

  /// - Parameters:
  ///   - issuer: the gateway's issuer identifier; what one issuer sealed does not open for another.
  ///   - random: where salts come from.
  public init(keyRing: KeyRing, issuer: String, random: RandomPool = RandomPool()) {
    self.keyRing = keyRing
    derivations = keyRing.keys.filter { $0.state != .retired }.map { ($0.id, HKDFSHA256(key: $0.secret)) }
    self.random = random
    data = [Sealer.version] + [UInt8](repeating: 0, count: KeyID.byteCount + 1) + issuer.utf8
  }

  /// The characters that `seal` gives for a payload of `count` bytes.
  public static func sealedLength(ofPayload count: Int) -> Int { ((shortest + count) * 4 + 2) / 3 }

  /// `payload` as text in the base64url alphabet, different every time.
  ///
  /// - Parameter binding: The place that the value belongs to; `nil` for a value that leaves the gateway.
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

  /// The payload that `text` was sealed from.
  public func open(
    _ text: String, as purpose: Purpose, in binding: SealBinding? = nil
  ) throws(OpenError) -> [UInt8] {
    // Most states of clients are recognised by their length.
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

  /// Names for a secret in a store, from which it cannot be guessed without a key of the ring: HMAC-SHA-256 under each key
  /// that opens, that of the sealing key first. A value that was stored before a rotation has a later one.
  public func storeNames(of secret: [UInt8]) -> [[UInt8]] {
    let info = Sealer.storeName + secret
    let first = derivations.filter { $0.id == keyRing.sealingKeyID }
    let others = derivations.filter { $0.id != keyRing.sealingKeyID }
    // An expansion of one block is one HMAC under the extracted key (RFC 5869, section 2.3).
    return (first + others).map { $0.hkdf.expand(info: info, length: 32) }
  }

  /// No purpose's `info` begins with it.
  private static let storeName = Array("proofgate store name ".utf8)

  /// Salt and digest have fixed lengths, so no two combinations read alike.
  private func messageKey(_ id: KeyID, _ purpose: Purpose, _ salt: Span<UInt8>, _ binding: SealBinding?) -> [UInt8] {
    guard let hkdf = derivations.first(where: { $0.id == id })?.hkdf else {
      preconditionFailure("the ring gives no key that is retired")
    }
    info.removeAll(keepingCapacity: true)
    info.append(copying: purpose.info.span)
    info.append(copying: salt)
    if let binding { info.append(contentsOf: binding.digest) }
    return hkdf.expand(info: info, length: AES256GCM.keyLength)
  }

  /// Version, key id, purpose, issuer, binding. The parts before the issuer have fixed lengths, and so has the binding of a
  /// purpose, so no two combinations read alike.
  private func associatedData(_ id: KeyID, _ purpose: Purpose, _ binding: SealBinding?) -> [UInt8] {
    for index in 0..<KeyID.byteCount { data[1 + index] = id.bytes[index] }
    data[1 + KeyID.byteCount] = purpose.rawValue
    guard let binding else { return data }
    return data + [Sealer.bound] + binding.data
  }
}
