import HTTP2
import HTTP2TestSupport
import Reactor
import Time

/// A session and the client's frames for it.
final class SessionFixture {
  let buffers = BufferPool()
  let session: HTTP2Session
  private let fields = FieldReader()
  private var sent: [UInt8] = []
  /// Begun streams by id, as the session reported them.
  private(set) var streams: [Int32: HTTP2Stream] = [:]
  private(set) var failure: HTTP2Failure?

  enum Problem: Error {
    case noMemory
  }

  init(_ limits: HTTP2Limits = HTTP2Limits(), keepsTrailers: Bool = false) throws {
    guard let session = HTTP2Session(limits, keepsTrailers: keepsTrailers, buffers) else { throw Problem.noMemory }
    self.session = session
    receive(Frame.preface + Frame.settings().bytes)
    _ = frames()
  }

  /// Gives the frames to the session together.
  func receive(_ frames: Frame..., now: MonotonicTime = 0) {
    receive(frames.flatMap(\.bytes), now: now)
  }

  func receive(_ bytes: [UInt8], now: MonotonicTime = 0) {
    do throws(HTTP2Failure) {
      try session.receive(bytes.span, now: now)
    } catch {
      failure = error
    }
    news()
  }

  private func news() {
    session.takeChangedStreams { if !$0.isRefused { streams[$0.id] = $0 } }
  }

  /// Returns the frames that the session sends.
  func frames() -> [Frame] {
    guard let buffer = buffers.take() else { return [] }
    defer { buffers.giveBack(buffer) }
    while session.wantsToSend {
      do throws(HTTP2Failure) {
        try session.produce(into: buffer)
      } catch {
        failure = error
      }
      if buffer.isEmpty { break }
      sent += buffer.bytes(from: 0, count: buffer.count)
      buffer.clear()
    }
    news()
    return Frame.take(from: &sent)
  }

  /// The received part of the stream's request, as HTTP/1.1 text.
  func text(_ id: Int32) -> String? {
    guard let stream = streams[id], let buffer = buffers.take() else { return nil }
    defer { buffers.giveBack(buffer) }
    var text: [UInt8] = []
    while let count = session.read(stream, into: buffer), count > 0 {
      text += buffer.bytes(from: 0, count: buffer.count)
      buffer.clear()
    }
    return String(decoding: text, as: UTF8.self)
  }

  func respond(_ id: Int32, _ body: String? = nil) {
    guard let stream = streams[id] else { return }
    let block = FieldBlock(buffers)
    block.append(":status", decimal: 200)
    session.respond(stream, block, isFinal: true, endsStream: body == nil)
    block.clear()
    guard let body else { return }
    write(id, body)
    session.finish(stream)
  }

  /// Gives the session as much of `body` as it accepts and returns the number of bytes.
  @discardableResult
  func write(_ id: Int32, _ body: String) -> Int {
    guard let stream = streams[id], let buffer = buffers.take() else { return 0 }
    defer { buffers.giveBack(buffer) }
    let count = min(session.room(for: stream), body.utf8.count)
    buffer.append(Array(body.utf8), in: 0..<count)
    return session.write(stream, buffer, offset: 0, count: count) ? count : 0
  }

  func fields(_ frame: Frame) -> [(name: String, value: String)] { fields.read(frame.payload) }
}
