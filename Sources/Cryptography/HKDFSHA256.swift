/// HKDF with SHA-256 (RFC 5869). The initialiser extracts the pseudorandom key, from which `expand` derives any number
/// of keys.
///
/// OpenSSL's own HKDF is not used, because it looks up its MAC by name on every call: it takes 2,400 ns for one key
/// (measured with OpenSSL 3.0), and `expand` takes 200 to 300 ns.
///
/// Not sendable: each worker owns one instance.
public final class HKDFSHA256 {
  private let hmac: HMACSHA256

  /// Extracts the pseudorandom key from `key` (section 2.2).
  public init(key: [UInt8], salt: [UInt8] = []) {
    // RFC 5869, section 2.2: without a salt, 32 zero bytes are used.
    var extracted = hmacSHA256(key: salt.isEmpty ? [UInt8](repeating: 0, count: 32) : salt, message: key)
    defer { wipe(&extracted) }
    hmac = HMACSHA256(key: extracted)
  }

  /// Returns `length` bytes of key material for `info` (section 2.3); `length` is 1 to 8,160.
  public func expand(info: [UInt8], length: Int) -> [UInt8] {
    precondition(length > 0 && length <= 255 * 32, "RFC 5869, section 2.3: at most 255 blocks")
    var block = hmac.authenticate(info, followedBy: [1])
    guard length != 32 else { return block }
    defer { wipe(&block) }
    var output: [UInt8] = []
    output.reserveCapacity(length + 32)
    output.append(contentsOf: block)
    var counter: UInt8 = 1
    while output.count < length {
      counter += 1
      block = hmac.authenticate(block, followedBy: info + [counter])
      output.append(contentsOf: block)
    }
    output.removeLast(output.count - length)
    return output
  }
}
