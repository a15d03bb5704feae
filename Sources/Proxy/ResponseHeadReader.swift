import HTTP
import HTTP1
import Reactor

/// Finds and parses the head of an upstream response; skips interim responses.
struct ResponseHeadReader {
  /// The maximum number of interim responses, more than any server sends. Without a limit an upstream could keep an
  /// exchange waiting forever.
  private static let interimLimit = 16

  private var scanner = HeadScanner()
  private var interim = 0

  /// Returns the final head if it is complete; it is at the front of the input, and its fields are in `fields`. Returns
  /// `nil` if more bytes must be received.
  ///
  /// Throws `malformed`, also if the head is longer than `Buffer.readSize`.
  mutating func parse(
    _ input: Buffer, to method: Method, acceptsSwitch: Bool = false, into fields: HeadIndex
  ) throws(UpstreamFailure) -> ResponseHead? {
    while !input.isEmpty {
      let head: ResponseHead?
      do throws(MessageError) {
        head = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> ResponseHead? in
          guard let length = try scanner.end(of: bytes) else { return nil }
          return try ResponseHeadParser.parse(bytes, length: length, to: method, into: fields)
        }
      } catch {
        throw .malformed(error.description)
      }
      guard let head else {
        if input.count >= Buffer.readSize { throw .malformed("a head longer than \(Buffer.readSize) bytes") }
        return nil
      }
      if head.status >= 200 || head.status == 101 && acceptsSwitch { return head }
      interim += 1
      guard head.status != 101 else { throw .malformed("a protocol switch that was not requested") }
      guard interim <= ResponseHeadReader.interimLimit else {
        throw .malformed("more than \(ResponseHeadReader.interimLimit) interim responses")
      }
      input.consume(head.length)
      scanner = HeadScanner()
    }
    return nil
  }
}
