/// HKDF with SHA-256 (RFC 5869).
///
/// The library's own HKDF looks its MAC up by name on every call: 2,400 ns, measured with OpenSSL 3.0, where the same two
/// HMAC calls through a kept context take 1,060 ns. So extract and expand are called one after the other here.
///
/// Not sendable: each worker owns its own.
public final class HKDFSHA256 {
  private let hmac = HMACSHA256()

  public init() {}

  /// `length` bytes, 1 to 8,160 (RFC 5869, section 2.3), derived from `key` for this `salt` and `info`.
  public func derive(key: [UInt8], salt: [UInt8], info: [UInt8], length: Int) -> [UInt8] {
    precondition(length > 0 && length <= 255 * 32, "RFC 5869, section 2.3: at most 255 blocks")
    // Section 2.2: no salt means a string of zeros.
    var extracted = hmac.authenticate(key: salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt, key)
    defer { wipe(&extracted) }
    var block = hmac.authenticate(key: extracted, info, [1])
    guard length != 32 else { return block }
    defer { wipe(&block) }
    var output: [UInt8] = []
    output.reserveCapacity(length + 32)
    output.append(contentsOf: block)
    var counter: UInt8 = 1
    while output.count < length {
      counter += 1
      block = hmac.authenticate(key: extracted, block, info + [counter])
      output.append(contentsOf: block)
    }
    output.removeLast(output.count - length)
    return output
  }
}
