internal import COpenSSL

/// HMAC-SHA256 (RFC 2104) through a digest context that is reused.
///
/// The library's own MAC object copies three digest contexts whenever the key changes, and here nearly every message has a
/// key of its own. So the two digests that HMAC consists of are taken one after the other.
///
/// Not sendable: each worker owns its own.
@safe public final class HMACSHA256 {
  private static let blockLength = 64
  private static let digestLength = 32

  private let context: OpaquePointer

  public init() {
    guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("no memory for a digest") }
    let isReady = unsafe EVP_DigestInit_ex2(context, Algorithms.sha256, nil) == 1
    precondition(isReady, "no memory for a digest")
    unsafe self.context = context
  }

  deinit {
    // Frees and cleans the only reference to the context.
    unsafe EVP_MD_CTX_free(context)
  }

  /// The 32 bytes that authenticate `message`, followed by `rest`, under `key`, which is not empty.
  public func authenticate(key: [UInt8], _ message: [UInt8], _ rest: [UInt8] = []) -> [UInt8] {
    precondition(!key.isEmpty, "HMAC needs a key")
    // Section 2: a key beyond a block is replaced by its digest, a shorter one is filled up with zeros.
    let key = key.count > HMACSHA256.blockLength ? sha256(key) : key
    var block = InlineArray<64, UInt8>(repeating: 0)
    var index = 0
    while index < key.count {
      block[index] = key[index]
      index &+= 1
    }
    HMACSHA256.mask(&block, 0x36)
    var inner = digest(block.span, message.span, rest.span)
    HMACSHA256.mask(&block, 0x36 ^ 0x5c)
    let outer = digest(block.span, inner.span, Span())
    HMACSHA256.wipe(&block)
    HMACSHA256.wipe(&inner)
    var result: [UInt8] = []
    result.reserveCapacity(HMACSHA256.digestLength)
    for index in outer.indices { result.append(outer[index]) }
    return result
  }

  private static func mask(_ block: inout InlineArray<64, UInt8>, _ mask: UInt8) {
    var index = 0
    while index < 64 {
      block[index] ^= mask
      index &+= 1
    }
  }

  private static func wipe<let count: Int>(_ bytes: inout InlineArray<count, UInt8>) {
    var span = bytes.mutableSpan
    // The buffer is valid for `count` bytes while the closure runs.
    unsafe span.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
  }

  private func digest(_ first: Span<UInt8>, _ second: Span<UInt8>, _ third: Span<UInt8>) -> InlineArray<32, UInt8> {
    var isDone = unsafe EVP_DigestInit_ex2(context, nil, nil) == 1
    isDone = isDone && update(first) && update(second) && update(third)
    var output = InlineArray<32, UInt8>(repeating: 0)
    var span = output.mutableSpan
    // The output has room for the 32 bytes that the algorithm writes.
    isDone = unsafe span.withUnsafeMutableBufferPointer { output in
      unsafe isDone && EVP_DigestFinal_ex(context, output.baseAddress, nil) == 1
    }
    precondition(isDone, "SHA-256 fails only without memory")
    return output
  }

  private func update(_ bytes: Span<UInt8>) -> Bool {
    // Valid for the length given beside it, and not kept.
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
    }
  }
}

/// HMAC-SHA256 (RFC 2104) of one message: 32 bytes. Who authenticates often keeps an `HMACSHA256`.
public func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
  HMACSHA256().authenticate(key: key, message)
}
