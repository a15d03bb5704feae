/// A body that is decoded into one array, as much of it at once as has arrived.
///
/// The sender chooses the framing: padded sizes of chunks of one byte are eighteen times as long as the data. So the
/// framing is limited.
public struct CollectedBody: Sendable {
  /// The maximum number of bytes of framing of a short body: that of 13,000 bytes in chunks of one byte.
  static let framingLimit = 64 * 1024
  /// For so many bytes of data, one more byte of framing is permitted.
  static let dataPerFraming = 4

  /// The data without framing.
  public private(set) var data: [UInt8] = []
  private var decoder: BodyDecoder
  /// The number of bytes of framing that were decoded.
  private var framing = 0

  /// Creates an empty body with this framing.
  public init(_ framing: BodyFraming) {
    decoder = BodyDecoder(framing)
  }

  /// True if the body is complete.
  public var isFinished: Bool { decoder.isFinished }

  /// Decodes `input` to its end, or to that of the body. Returns the number of bytes that were decoded. Throws if the
  /// framing is malformed or too long.
  public mutating func decode(_ input: Span<UInt8>) throws(MessageError) -> Int {
    let before = data.count
    let consumed = try decoder.decode(input, into: &data)
    framing += consumed - (data.count - before)
    guard framing <= CollectedBody.framingLimit + data.count / CollectedBody.dataPerFraming else {
      throw MessageError(status: 413, "a chunked body with too much framing")
    }
    return consumed
  }

  /// Records that the sender has closed the connection. Returns true if the body is complete.
  public mutating func endsCompletely() -> Bool { decoder.endsCompletely() }
}
