import HTTP2TestSupport
import Reactor

/// A client that sends and reads single HTTP/2 frames over a raw connection.
final class FrameClient {
  let peer: Peer
  private let fields = FieldReader()
  private var bytes: [UInt8] = []
  private var frames: [Frame] = []
  /// True if DATA is credited on arrival.
  var givesCredit = true
  /// True if PING is answered.
  var answersPings = true

  struct Answer: Sendable {
    var status = 0
    var fields: [(name: String, value: String)] = []
    var interim: [Int] = []
    /// The fields of the last interim response.
    var hints: [(name: String, value: String)] = []
    var trailers: [(name: String, value: String)] = []
    var body: [UInt8] = []
    /// The error code of the stream's reset; nil if it was not reset.
    var reset: Int?
    var isWhole = false

    var text: String { String(decoding: body, as: UTF8.self) }
    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }
  }

  init(_ peer: Peer, settings: [(Int, Int)] = []) async throws {
    self.peer = peer
    try await peer.send(Frame.preface + Frame.settings(settings).bytes)
  }

  func send(_ frames: Frame...) async throws {
    try await peer.send(frames.flatMap(\.bytes))
  }

  /// The next frame; nil if the connection has ended.
  func next() async throws -> Frame? {
    while frames.isEmpty {
      guard try await peer.receive() else { return nil }
      bytes += try await peer.take(count: peer.received.count)
      frames = Frame.take(from: &bytes)
    }
    let frame = frames.removeFirst()
    if frame.kind == .ping, frame.flags & Frame.acknowledgement == 0, answersPings {
      try await send(Frame(.ping, flags: Frame.acknowledgement, payload: frame.payload))
    }
    if frame.kind == .settings, frame.flags & Frame.acknowledgement == 0 {
      try await send(Frame(.settings, flags: Frame.acknowledgement))
    }
    if frame.kind == .data, givesCredit, !frame.payload.isEmpty {
      try await send(.window(0, frame.payload.count), .window(frame.stream, frame.payload.count))
    }
    return frame
  }

  /// The next frame of this kind; nil if the connection has ended.
  func next(_ kind: Frame.Kind) async throws -> Frame? {
    while let frame = try await next() {
      if frame.kind == kind { return frame }
    }
    return nil
  }

  /// The responses of these streams, in any order of arrival.
  func answers(_ streams: [Int]) async throws -> [Int: Answer] {
    var open = Set(streams)
    var answers: [Int: Answer] = [:]
    while !open.isEmpty, let frame = try await next() {
      guard open.contains(frame.stream) else {
        // All field sections must be read, or the dynamic tables of the two ends would differ.
        if frame.kind == .headers { _ = fields.read(frame.payload) }
        continue
      }
      var answer = answers[frame.stream] ?? Answer()
      switch frame.kind {
      case .headers:
        let section = fields.read(frame.payload)
        let status = section.first { $0.name == ":status" }.flatMap { Int($0.value) } ?? 0
        if answer.status > 0 {
          answer.trailers = section
        } else if status < 200 {
          answer.interim.append(status)
          answer.hints = section
        } else {
          answer.fields = section
          answer.status = status
        }
      case .data: answer.body += frame.payload
      case .reset:
        answer.reset = frame.word(at: 0)
        open.remove(frame.stream)
      default: break
      }
      if frame.endsStream, frame.kind == .headers || frame.kind == .data {
        answer.isWhole = true
        open.remove(frame.stream)
      }
      answers[frame.stream] = answer
    }
    return answers
  }

  func answer(_ stream: Int) async throws -> Answer {
    try await answers([stream])[stream] ?? Answer()
  }
}

extension Bench {
  func connectHTTP2(settings: [(Int, Int)] = []) async throws -> FrameClient {
    try await FrameClient(try await connect(), settings: settings)
  }
}
