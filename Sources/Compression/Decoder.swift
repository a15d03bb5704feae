internal import CZlib

/// Decodes bodies that arrived whole. Strict: a body is accepted only if all of it is what its coding says, to its last
/// byte and with the right checksum.
public enum Decoder {
  /// How many bytes one byte may become. Text with much repetition reaches 30; deflate itself ends at 1,032.
  public static let ratioLimit = 100
  /// Bytes that a body of any length may become.
  public static let ratioFree = 16 * 1024

  /// What zlib writes at a time.
  private static let step = 16 * 1024

  /// The content of `body`.
  ///
  /// A gzip body may have several members (RFC 1952, section 2.2). A deflate body is meant to have zlib's wrapping; servers
  /// that leave it out are understood.
  ///
  /// - Parameter limit: bytes that the content may have.
  ///
  /// Throws `CompressionError`.
  public static func decode(_ body: [UInt8], _ coding: ContentCoding, limit: Int) throws(CompressionError) -> [UInt8] {
    guard !body.isEmpty else { return [] }
    let allowed = min(limit, max(ratioFree, body.count.multipliedReportingOverflow(by: ratioLimit).partialValue))
    return try inflate(body, windowBits(for: coding, body), hasMembers: coding == .gzip, limit: allowed)
  }

  /// 15: the largest window. 16 more: gzip's wrapping. Negative: none.
  private static func windowBits(for coding: ContentCoding, _ body: [UInt8]) -> Int32 {
    switch coding {
    case .gzip: 15 + 16
    case .deflate: isWrapped(body) ? 15 : -15
    }
  }

  /// True if the body begins as RFC 1950, section 2.2, says: method 8, and a multiple of 31.
  private static func isWrapped(_ body: [UInt8]) -> Bool {
    guard body.count >= 2 else { return false }
    return body[0] & 0x0f == 8 && (Int(body[0]) << 8 | Int(body[1])) % 31 == 0
  }

  private static func inflate(
    _ body: [UInt8], _ windowBits: Int32, hasMembers: Bool, limit: Int
  ) throws(CompressionError) -> [UInt8] {
    // Sound: every exit ends the stream, which owns zlib's memory, and zlib keeps no pointer between two calls.
    var stream = unsafe z_stream()
    guard unsafe cz_begin_inflating(&stream, windowBits) == Z_OK else { throw .outOfMemory }
    defer { unsafe inflateEnd(&stream) }
    var content: [UInt8] = []
    var block = [UInt8](repeating: 0, count: step)
    var position = 0
    while true {
      let (result, taken, written) = unsafe advance(&stream, body, from: position, into: &block)
      position += taken
      guard content.count + written <= limit else { throw .tooLarge }
      content.append(contentsOf: block[..<written])
      switch result {
      case Z_OK: continue
      case Z_STREAM_END:
        if position == body.count { return content }
        guard hasMembers, unsafe inflateReset(&stream) == Z_OK else { throw .malformed }
      case Z_BUF_ERROR:
        // No progress, although there is room: there is no input left.
        throw .truncated
      case Z_MEM_ERROR: throw .outOfMemory
      // This includes a preset dictionary, which HTTP does not define.
      default: throw .malformed
      }
    }
  }

  /// One call of zlib: its answer, the bytes that it took and the bytes that it wrote.
  private static func advance(
    _ stream: inout z_stream, _ body: [UInt8], from position: Int, into block: inout [UInt8]
  ) -> (result: Int32, taken: Int, written: Int) {
    let left = min(body.count - position, Int(Int32.max))
    let room = block.count
    return unsafe body.withUnsafeBufferPointer { source in
      unsafe block.withUnsafeMutableBufferPointer { sink in
        guard let start = source.baseAddress, let end = sink.baseAddress else {
          return (Z_BUF_ERROR, 0, 0)
        }
        // Sound: zlib reads at most `avail_in` bytes and writes at most `avail_out`; the pointers are valid for the call.
        unsafe stream.next_in = UnsafeMutablePointer(mutating: start + position)
        unsafe stream.avail_in = UInt32(left)
        unsafe stream.next_out = end
        unsafe stream.avail_out = UInt32(room)
        let result = unsafe CZlib.inflate(&stream, Z_NO_FLUSH)
        return unsafe (result, left - Int(stream.avail_in), room - Int(stream.avail_out))
      }
    }
  }
}
