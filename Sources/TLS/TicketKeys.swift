internal import COpenSSL
internal import Cryptography
internal import Reactor
internal import Synchronization
internal import Time

/// The keys that encrypt session tickets (RFC 5077; RFC 8446, section 4.6.1). The whole process shares them, so that a
/// session can be resumed on every worker and after a reload.
///
/// A key encrypts tickets for an hour, and decrypts them until the last of its tickets has expired. An expired key is
/// discarded when the next ticket is created, so that its tickets can never be decrypted again. No timer discards it
/// earlier, because a timer would wake up an idle process.
public final class TicketKeys: Sendable {
  /// The time for which a key encrypts new tickets.
  static let encryptionPeriod: Seconds = 3_600
  /// The time for which a session can be resumed.
  static let sessionLifetime: Seconds = 7_200

  struct Key {
    /// 16 random bytes, by which a ticket names its key.
    let name: [UInt8]
    /// The AES-256 key.
    let encryption: [UInt8]
    /// The HMAC key.
    let authentication: [UInt8]
    let created: MonotonicTime

    init(now: MonotonicTime) {
      name = randomBytes(16)
      encryption = randomBytes(32)
      authentication = randomBytes(32)
      created = now
    }

    func isCurrent(at now: MonotonicTime) -> Bool { now < created + Milliseconds(TicketKeys.encryptionPeriod) }

    func hasExpired(at now: MonotonicTime) -> Bool {
      now >= created + Milliseconds(TicketKeys.encryptionPeriod + TicketKeys.sessionLifetime)
    }
  }

  private let keys = Mutex<[Key]>([])
  private let now: @Sendable () -> MonotonicTime

  /// Creates an empty set of keys.
  ///
  /// - Parameter now: Returns the current time.
  init(now: @escaping @Sendable () -> MonotonicTime) {
    self.now = now
  }

  /// Creates an empty set of keys that uses the monotonic clock of the system.
  public convenience init() {
    self.init { SystemClock.monotonicTime() }
  }

  /// Returns the key for new tickets. Creates a key if necessary, and discards expired keys.
  func current() -> Key {
    let now = now()
    return keys.withLock { keys in
      keys.removeAll { $0.hasExpired(at: now) }
      if let newest = keys.last, newest.isCurrent(at: now) { return newest }
      let key = Key(now: now)
      keys.append(key)
      return key
    }
  }

  /// Returns the key with this name; `nil` if there is no such key or it has expired. `isCurrent` is true if the key
  /// still encrypts new tickets.
  func find(_ name: [UInt8]) -> (key: Key, isCurrent: Bool)? {
    let now = now()
    return keys.withLock { keys in
      guard let key = keys.first(where: { $0.name == name }), !key.hasExpired(at: now) else { return nil }
      return (key, key.isCurrent(at: now))
    }
  }
}

extension TicketKeys {
  /// Prepares the encryption or decryption of a ticket. Returns a number for OpenSSL: 1 to continue, 2 to continue and
  /// replace the ticket, 0 for an unknown key, -1 to fail.
  ///
  /// `name` points to the field of the ticket for the name of the key. For a new ticket, this function writes the name
  /// of the current key there. For a received ticket, it reads the name to find the key. OpenSSL documents these sizes:
  /// 16 bytes at `name`, and at `vector` room for the initialisation vector.
  func prepare(
    _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer,
    _ authentication: OpaquePointer, isEncrypting: Bool
  ) -> Int32 {
    let key: Key
    var isCurrent = true
    if isEncrypting {
      key = current()
      for (index, byte) in key.name.enumerated() { unsafe name[index] = byte }
      for (index, byte) in randomBytes(16).enumerated() { unsafe vector[index] = byte }
    } else {
      guard let found = unsafe find(Array(UnsafeBufferPointer(start: name, count: 16))) else { return 0 }
      key = found.key
      isCurrent = found.isCurrent
    }
    guard unsafe EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nil, key.encryption, vector, isEncrypting ? 1 : 0) == 1,
      unsafe co_set_hmac_key(authentication, key.authentication, key.authentication.count) == 1
    else { return -1 }
    return isCurrent ? 1 : 2
  }
}
