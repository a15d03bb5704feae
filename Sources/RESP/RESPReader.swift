internal import CHiredis

/// Reads the replies of a Redis server from the received bytes, with hiredis as the parser.
///
/// hiredis is only the codec: the caller provides sockets, TLS and deadlines (docs/adr/0001). Not Sendable, because a
/// reader belongs to one connection.
@safe public final class RESPReader {
  /// The maximum number of elements of an array. The longest array that the gateway asks for is the reply to `SCAN`
  /// with `COUNT 500`. This reply may have a few times more elements, because the server returns whole buckets of its
  /// hash table.
  static let maximumElements: Int32 = 8_192
  /// The maximum bytes of a reply. The longest value of a store has 16 KiB, and the reply to `INFO` has about 6 KiB.
  static let maximumBytes = 1 << 20

  /// `nil` if there was no memory for it.
  private let reader: UnsafeMutablePointer<ch_reader>?
  /// The bytes since the last complete reply. hiredis counts only those of the element that it reads.
  private var received = 0

  /// Creates a reader for a new connection. `feed` and `next` throw if there is no memory for it.
  public init() {
    unsafe reader = ch_open(RESPReader.maximumElements)
  }

  deinit {
    if let reader = unsafe reader { unsafe ch_close(reader) }
  }

  private static let outOfMemory = RESPError(description: "no memory for a reader of replies")

  /// Adds received bytes. Throws if there is no memory.
  public func feed(_ bytes: Span<UInt8>) throws(RESPError) {
    guard let reader = unsafe reader else { throw RESPReader.outOfMemory }
    // Sound: hiredis copies the bytes during the call.
    let result = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe ch_feed(reader, bytes.baseAddress, bytes.count)
    }
    if result != REDIS_OK { throw unsafe RESPReader.failure(of: reader) }
    received += bytes.count
  }

  /// Returns the next complete reply; `nil` if more bytes are needed. Throws if the bytes are not RESP or exceed a
  /// limit, or if there is no memory. The caller must then close the connection.
  public func next() throws(RESPError) -> RESPReply? {
    guard let reader = unsafe reader else { throw RESPReader.outOfMemory }
    var reply: UnsafeMutablePointer<redisReply>?
    guard unsafe ch_next(reader, &reply) == REDIS_OK else { throw unsafe RESPReader.failure(of: reader) }
    guard let reply = unsafe reply else {
      guard received <= RESPReader.maximumBytes else {
        throw RESPError(description: "a reply of more than \(RESPReader.maximumBytes) bytes")
      }
      return nil
    }
    // Sound: `value` returns copies only.
    defer { unsafe freeReplyObject(reply) }
    received = unsafe Int(ch_pending(reader))
    return unsafe RESPReader.value(of: reply)
  }

  private static func failure(of reader: UnsafeMutablePointer<ch_reader>) -> RESPError {
    unsafe RESPError(description: String(cString: ch_error(reader)))
  }

  private static func value(of reply: UnsafeMutablePointer<redisReply>) -> RESPReply {
    switch unsafe reply.pointee.type {
    case REDIS_REPLY_STRING: return unsafe .bytes(bytes(of: reply))
    case REDIS_REPLY_STATUS: return unsafe .status(String(decoding: bytes(of: reply), as: UTF8.self))
    case REDIS_REPLY_ERROR: return unsafe .error(String(decoding: bytes(of: reply), as: UTF8.self))
    case REDIS_REPLY_INTEGER: return unsafe .integer(reply.pointee.integer)
    case REDIS_REPLY_ARRAY:
      let count = unsafe reply.pointee.elements
      let elements = (0..<count).map { index in
        // hiredis returns only complete replies, so no element is missing.
        guard let element = unsafe reply.pointee.element[index] else { return RESPReply.null }
        return unsafe value(of: element)
      }
      return .array(elements)
    default: return .null
    }
  }

  private static func bytes(of reply: UnsafeMutablePointer<redisReply>) -> [UInt8] {
    // Sound: `str` refers to `len` bytes, which exist as long as the reply.
    unsafe Array(UnsafeRawBufferPointer(start: reply.pointee.str, count: reply.pointee.len))
  }
}
