internal import CZlib

/// Compresses bodies that the gateway makes itself.
///
/// Not for a body that has both a secret and text that somebody else chose: its length would tell how much of the two is
/// alike, and so the secret byte by byte (BREACH). The gateway's pages are such bodies, so they are never compressed.
public enum Encoder {
  /// Bytes below which compression is not worth its field and its time.
  public static let leastBody = 1024

  /// `body` as one member of gzip (RFC 1952); `nil` when there is no memory.
  public static func gzip(_ body: [UInt8]) -> [UInt8]? {
    guard body.count <= Int(Int32.max) else { return nil }
    // Sound: every exit ends the stream, which owns zlib's memory, and zlib keeps no pointer behind its call.
    var stream = unsafe z_stream()
    guard unsafe cz_begin_deflating(&stream, 15 + 16) == Z_OK else { return nil }
    defer { unsafe deflateEnd(&stream) }
    let bound = unsafe Int(deflateBound(&stream, UInt(body.count)))
    var isWhole = false
    let coded = unsafe [UInt8](unsafeUninitializedCapacity: bound) { sink, count in
      unsafe body.withUnsafeBufferPointer { source in
        unsafe stream.next_in = source.baseAddress.map { unsafe UnsafeMutablePointer(mutating: $0) }
        unsafe stream.avail_in = UInt32(source.count)
        unsafe stream.next_out = sink.baseAddress
        unsafe stream.avail_out = UInt32(sink.count)
        isWhole = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
      }
      count = unsafe sink.count - Int(stream.avail_out)
    }
    return isWhole ? coded : nil
  }
}
