/// One HTTP/2 frame that a test writes or reads (RFC 9113, section 4.1), independent of the gateway's codec.
public struct Frame: Sendable, Equatable {
  /// The frame types (RFC 9113, section 6).
  public enum Kind: UInt8, Sendable {
    case data = 0
    case headers = 1
    case priority = 2
    case reset = 3
    case settings = 4
    case pushPromise = 5
    case ping = 6
    case goAway = 7
    case windowUpdate = 8
    case continuation = 9
    /// A type without a meaning. ``take(from:)`` also returns it for every other type that is not in this list.
    case unknown = 0x77
  }

  /// The END_STREAM flag of DATA and HEADERS.
  public static let endStream: UInt8 = 0x1
  /// The ACK flag of SETTINGS and PING.
  public static let acknowledgement: UInt8 = 0x1
  /// The END_HEADERS flag of HEADERS, PUSH_PROMISE and CONTINUATION.
  public static let endHeaders: UInt8 = 0x4
  /// The PADDED flag of DATA, HEADERS and PUSH_PROMISE.
  public static let padded: UInt8 = 0x8

  /// The bytes with which a client begins a connection, before its SETTINGS (RFC 9113, section 3.4).
  public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// The frame type.
  public var kind: Kind
  /// The flags, of which the meaning depends on the type.
  public var flags: UInt8
  /// The stream identifier; 0 for the connection.
  public var stream: Int
  /// The octets after the frame header.
  public var payload: [UInt8]

  /// Creates a frame from its parts, without a check of their validity.
  public init(_ kind: Kind, flags: UInt8 = 0, stream: Int = 0, payload: [UInt8] = []) {
    self.kind = kind
    self.flags = flags
    self.stream = stream
    self.payload = payload
  }

  /// The encoded frame: the header of 9 octets and the payload.
  public var bytes: [UInt8] {
    let length = payload.count
    return [UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), kind.rawValue, flags]
      + Frame.word(stream) + payload
  }

  /// True if the END_STREAM flag is set. Meaningful for DATA and HEADERS only.
  public var endsStream: Bool { flags & Frame.endStream != 0 }
  /// The error code of RST_STREAM (at 0) or GOAWAY (at 4), or another word of the payload; -1 if the payload is
  /// too short.
  public func word(at offset: Int) -> Int {
    guard offset + 4 <= payload.count else { return -1 }
    return payload[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Encodes the low 32 bits of a value in network byte order.
  public static func word(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(value >> $0 & 0xff) }
  }

  /// Removes the complete frames from the front of `bytes` and returns them.
  public static func take(from bytes: inout [UInt8]) -> [Frame] {
    var frames: [Frame] = []
    var position = 0
    while bytes.count - position >= 9 {
      let length = bytes[position..<position + 3].reduce(0) { $0 << 8 | Int($1) }
      guard bytes.count - position >= 9 + length else { break }
      let stream = bytes[position + 5..<position + 9].reduce(0) { $0 << 8 | Int($1) } & 0x7fff_ffff
      frames.append(
        Frame(
          Kind(rawValue: bytes[position + 3]) ?? .unknown, flags: bytes[position + 4], stream: stream,
          payload: Array(bytes[position + 9..<position + 9 + length])))
      position += 9 + length
    }
    bytes.removeFirst(position)
    return frames
  }

  // MARK: Common frames

  /// A SETTINGS frame with these identifiers and values (RFC 9113, section 6.5.1).
  public static func settings(_ entries: [(Int, Int)] = []) -> Frame {
    Frame(
      .settings, payload: entries.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xff)] + word($0.1) })
  }

  /// A HEADERS frame with a complete field section.
  public static func headers(
    _ stream: Int, _ fields: [(String, String)], endsStream: Bool = true
  ) -> Frame {
    Frame(
      .headers, flags: endHeaders | (endsStream ? endStream : 0), stream: stream, payload: FieldWriter.write(fields))
  }

  /// A HEADERS frame with a GET request that has no body.
  public static func get(_ stream: Int, _ path: String = "/", _ fields: [(String, String)] = []) -> Frame {
    headers(stream, request("GET", path) + fields)
  }

  /// The pseudo-fields of a request to `http://gateway.test`.
  public static func request(_ method: String, _ path: String) -> [(String, String)] {
    [(":method", method), (":scheme", "http"), (":path", path), (":authority", "gateway.test")]
  }

  /// The fields of a request, in which each pseudo-field can be changed or omitted and more fields can be appended.
  public static func request(
    method: String? = "GET", scheme: String? = "http", path: String? = "/", authority: String? = "gateway.test",
    _ more: (String, String)...
  ) -> [(String, String)] {
    let pseudo = [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority)]
    var fields: [(String, String)] = []
    for (name, value) in pseudo {
      if let value { fields.append((name, value)) }
    }
    return fields + more
  }

  /// A DATA frame without padding.
  public static func data(_ stream: Int, _ text: String, endsStream: Bool = false) -> Frame {
    Frame(.data, flags: endsStream ? endStream : 0, stream: stream, payload: Array(text.utf8))
  }

  /// A RST_STREAM frame. The default error code is CANCEL (RFC 9113, section 7).
  public static func reset(_ stream: Int, _ code: Int = 8) -> Frame {
    Frame(.reset, stream: stream, payload: word(code))
  }

  /// A WINDOW_UPDATE frame with an increment in octets; stream 0 is the connection.
  public static func window(_ stream: Int, _ increment: Int) -> Frame {
    Frame(.windowUpdate, stream: stream, payload: word(increment))
  }
}
