import HTTP1
import Reactor

/// The parts of a passing request with a body that are needed if its response is withheld (`WithheldResponse`).
///
/// A request without a body needs no copy: its head stays at the front of the receive buffer until a response begins.
struct HeldRequest {
  /// The head; its storage is reused for each request of the connection.
  private(set) var head: [UInt8] = []
  private(set) var body: [UInt8] = []
  /// Decodes the body a second time, independently of the upload; `nil` if the body is not kept.
  private var decoder: BodyDecoder?
  /// False if the body exceeded the limit or there was no memory for it; then `body` is empty.
  private var fits = true

  /// True if the body is to be kept.
  var keepsBody: Bool { decoder != nil }
  /// True if `body` is kept and complete.
  var isWhole: Bool { fits && decoder?.isFinished ?? false }

  /// Starts to keep a request.
  ///
  /// - Parameter framing: the framing of the body; `nil` if only the head is kept.
  mutating func hold(head bytes: [UInt8], body framing: BodyFraming?) {
    head += bytes
    decoder = framing.map { BodyDecoder($0) }
  }

  /// Adds a piece of the body with its framing, as far as the limit and the worker's memory allow.
  mutating func append(_ piece: ArraySlice<UInt8>, _ buffers: BufferPool) {
    guard fits, var decoder else { return }
    defer { self.decoder = decoder }
    let bytes = piece.span
    var next = 0
    while next < bytes.count, !decoder.isFinished {
      // The decoder of the upload has already accepted the same bytes.
      guard let part = try? decoder.decode(bytes.extracting(next..<bytes.count)), part.consumed > 0 else { break }
      let data = next + part.data.lowerBound..<next + part.data.upperBound
      next += part.consumed
      guard body.count + data.count <= WithheldResponse.bodyLimit, buffers.hasRoom(for: data.count) else {
        fits = false
        return drop(buffers)
      }
      buffers.charge(data.count)
      for index in data { body.append(bytes[index]) }
    }
  }

  /// Prepares for the next request.
  mutating func clear(_ buffers: BufferPool) {
    guard !head.isEmpty else { return }
    head.removeAll(keepingCapacity: true)
    decoder = nil
    fits = true
    drop(buffers)
  }

  private mutating func drop(_ buffers: BufferPool) {
    buffers.release(body.count)
    body = []
  }
}
