internal import CZlib

/// A strict decoder of bodies that were received completely. It rejects a body with bytes after the end of the
/// compressed data, and a body with a wrong checksum. (Raw deflate data has no checksum.)
public enum Decoder {
  /// The maximum number of decoded bytes per encoded byte. It applies to bodies that decode to more than
  /// `lengthWithoutRatioLimit` bytes. Repetitive text reaches a ratio of 30; the maximum of deflate is 1,032.
  public static let ratioLimit = 100
  /// The number of decoded bytes up to which `ratioLimit` does not apply.
  public static let lengthWithoutRatioLimit = 16 * 1024

  /// The maximum number of bytes that zlib writes in one call.
  private static let blockLength = 16 * 1024

  /// Returns the decoded content of `body`; an empty body has empty content. Throws `CompressionError`.
  ///
  /// A gzip body may have several members (RFC 1952, section 2.2). A deflate body should have a zlib header, but bodies
  /// without it are accepted, because some servers omit it.
  ///
  /// - Parameter limit: The maximum number of decoded bytes.
  public static func decode(_ body: [UInt8], _ coding: ContentCoding, limit: Int) throws(CompressionError) -> [UInt8] {
    guard !body.isEmpty else { return [] }
    // The product does not overflow, because no body in memory is so long.
    let allowedByRatio = body.count.multipliedReportingOverflow(by: ratioLimit).partialValue
    let allowed = min(limit, max(lengthWithoutRatioLimit, allowedByRatio))
    return try inflate(body, windowBits(for: coding, body), allowsSeveralMembers: coding == .gzip, limit: allowed)
  }

  /// Returns the `windowBits` parameter of zlib: 15 for the zlib format with the largest window, 16 more for the gzip
  /// format, and -15 for raw deflate data.
  private static func windowBits(for coding: ContentCoding, _ body: [UInt8]) -> Int32 {
    switch coding {
    case .gzip: 15 + 16
    case .deflate: hasZlibHeader(body) ? 15 : -15
    }
  }

  /// Returns true if the body begins with a zlib header: the compression method is 8, and the first two bytes as a
  /// big-endian number are a multiple of 31 (RFC 1950, section 2.2).
  private static func hasZlibHeader(_ body: [UInt8]) -> Bool {
    guard body.count >= 2 else { return false }
    return body[0] & 0x0f == 8 && (Int(body[0]) << 8 | Int(body[1])) % 31 == 0
  }

  private static func inflate(
    _ body: [UInt8], _ windowBits: Int32, allowsSeveralMembers: Bool, limit: Int
  ) throws(CompressionError) -> [UInt8] {
    // Sound: `inflateEnd` frees the memory of zlib on every exit, and zlib accesses the buffers only within a call.
    var stream = unsafe z_stream()
    guard unsafe cz_begin_inflating(&stream, windowBits) == Z_OK else { throw .outOfMemory }
    defer { unsafe inflateEnd(&stream) }
    var content: [UInt8] = []
    var block = [UInt8](repeating: 0, count: blockLength)
    var position = 0
    while true {
      let (result, taken, written) = unsafe callZlib(&stream, body, from: position, into: &block)
      position += taken
      guard content.count + written <= limit else { throw .tooLarge }
      content.append(contentsOf: block[..<written])
      switch result {
      case Z_OK: continue
      case Z_STREAM_END:
        if position == body.count { return content }
        guard allowsSeveralMembers, unsafe inflateReset(&stream) == Z_OK else { throw .malformed }
      case Z_BUF_ERROR:
        // zlib made no progress although there is room for output, so the input ends too early.
        throw .truncated
      case Z_MEM_ERROR: throw .outOfMemory
      // Data that needs a preset dictionary is malformed too, because HTTP has no way to send the dictionary.
      default: throw .malformed
      }
    }
  }

  /// Calls zlib once. Returns its result and the numbers of bytes that it read and wrote.
  private static func callZlib(
    _ stream: inout z_stream, _ body: [UInt8], from position: Int, into block: inout [UInt8]
  ) -> (result: Int32, taken: Int, written: Int) {
    let remaining = min(body.count - position, Int(Int32.max))
    let room = block.count
    return unsafe body.withUnsafeBufferPointer { source in
      unsafe block.withUnsafeMutableBufferPointer { sink in
        guard let input = source.baseAddress, let output = sink.baseAddress else {
          return (Z_BUF_ERROR, 0, 0)
        }
        // Sound: zlib reads at most `avail_in` bytes and writes at most `avail_out`; the pointers are valid for the
        // call.
        unsafe stream.next_in = UnsafeMutablePointer(mutating: input + position)
        unsafe stream.avail_in = UInt32(remaining)
        unsafe stream.next_out = output
        unsafe stream.avail_out = UInt32(room)
        let result = unsafe CZlib.inflate(&stream, Z_NO_FLUSH)
        return unsafe (result, remaining - Int(stream.avail_in), room - Int(stream.avail_out))
      }
    }
  }
}
