internal import CZlib

/// An encoder of bodies that the gateway creates.
///
/// Do not compress a body that contains both a secret and text that an attacker chooses. Text that repeats a part of
/// the secret makes the compressed body shorter, so the attacker could guess the secret byte by byte (BREACH attack).
/// The gateway's pages for users are such bodies, so they are never compressed.
public enum Encoder {
  /// The length in bytes below which callers do not compress a body. The few bytes saved would not justify the
  /// additional header field and the time.
  public static let minimumBodyLength = 1024

  /// Returns `body` as one gzip member (RFC 1952), or `nil` if it is longer than `Int32.max` bytes or memory cannot be
  /// allocated.
  public static func gzip(_ body: [UInt8]) -> [UInt8]? {
    guard body.count <= Int(Int32.max) else { return nil }
    // Sound: `deflateEnd` frees the memory of zlib on every exit, and zlib accesses the buffers only within a call.
    var stream = unsafe z_stream()
    guard unsafe cz_begin_deflating(&stream, 15 + 16) == Z_OK else { return nil }
    defer { unsafe deflateEnd(&stream) }
    let maximumLength = unsafe Int(deflateBound(&stream, UInt(body.count)))
    var isComplete = false
    let compressed = unsafe [UInt8](unsafeUninitializedCapacity: maximumLength) { sink, count in
      unsafe body.withUnsafeBufferPointer { source in
        unsafe stream.next_in = source.baseAddress.map { unsafe UnsafeMutablePointer(mutating: $0) }
        unsafe stream.avail_in = UInt32(source.count)
        unsafe stream.next_out = sink.baseAddress
        unsafe stream.avail_out = UInt32(sink.count)
        isComplete = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
      }
      count = unsafe sink.count - Int(stream.avail_out)
    }
    return isComplete ? compressed : nil
  }
}
