import HTTP2
import HTTP2TestSupport
import Reactor
import Testing

struct FlowControlTests {
  private let part = String(repeating: "a", count: 16_000)

  private func post(_ fixture: SessionFixture, _ stream: Int) {
    fixture.receive(.headers(stream, Frame.request("POST", "/"), endsStream: false))
  }

  @Test("A stream gets its credit back when its bytes were forwarded, the connection on receipt")
  func credit() throws {
    let fixture = try SessionFixture()
    post(fixture, 1)
    for _ in 0..<4 { fixture.receive(.data(1, part)) }
    let first = fixture.frames().filter { $0.kind == .windowUpdate }
    #expect(!first.isEmpty && first.allSatisfy { $0.stream == 0 })
    _ = fixture.text(1)
    let second = fixture.frames().filter { $0.kind == .windowUpdate }
    #expect(second.contains { $0.stream == 1 })
  }

  @Test("More DATA than a stream's window resets the stream")
  func overrun() throws {
    let fixture = try SessionFixture()
    post(fixture, 1)
    for _ in 0..<5 {
      fixture.receive(.data(1, part))
      _ = fixture.frames()
    }
    #expect(fixture.streams[1]?.isClosed == true || fixture.session.hasEnded)
  }

  @Test("All streams together keep a limited part of the bytes that clients send")
  func bound() throws {
    let fixture = try SessionFixture()
    var credit = 65_535
    var sent = 0
    for stream in stride(from: 1, to: 100, by: 2) {
      post(fixture, stream)
      for _ in 0..<4 where credit >= part.utf8.count {
        fixture.receive(.data(stream, part))
        sent += part.utf8.count
        credit -= part.utf8.count
        for frame in fixture.frames() where frame.kind == .windowUpdate && frame.stream == 0 {
          credit += frame.word(at: 0)
        }
      }
    }
    #expect(fixture.failure == nil)
    #expect(sent <= fixture.session.limits.bufferedBodies)
    #expect(sent > 256 * 1024)
    // When one of them is read, the others continue.
    for stream in stride(from: 1, to: 30, by: 2) { _ = fixture.text(Int32(stream)) }
    #expect(fixture.frames().contains { $0.kind == .windowUpdate && $0.stream == 0 })
  }

  @Test("Bodies are counted by the blocks that contain them", arguments: [1, 100, 2_049, 13_000, 16_000])
  func bodyMemory(length: Int) throws {
    let fixture = try SessionFixture()
    let part = String(repeating: "a", count: length)
    var credit = 65_535
    for stream in stride(from: 1, to: 200, by: 2) {
      post(fixture, stream)
      // The head: the code that serves the stream reads it at once.
      _ = fixture.text(Int32(stream))
      for _ in 0..<4 where credit >= length {
        fixture.receive(.data(stream, part))
        credit -= length
        for frame in fixture.frames() where frame.kind == .windowUpdate && frame.stream == 0 {
          credit += frame.word(at: 0)
        }
      }
    }
    #expect(fixture.failure == nil)
    #expect(fixture.buffers.bytes <= fixture.session.limits.bufferedBodies)
  }

  @Test(
    "Responses that wait for credit use about as much memory as they are long",
    arguments: [(1, 2_048), (1_500, 2_048), (2_049, 3_300), (16_000, 4_900)])
  func responseMemory(length: Int, share: Int) throws {
    let fixture = try SessionFixture()
    // SETTINGS_INITIAL_WINDOW_SIZE.
    fixture.receive(.settings([(4, 0)]))
    for stream in stride(from: 1, to: 200, by: 2) {
      fixture.receive(.get(stream))
      _ = fixture.text(Int32(stream))
      fixture.respond(Int32(stream), String(repeating: "a", count: length))
    }
    _ = fixture.frames()
    #expect(fixture.streams.values.allSatisfy { $0.outboundBytes > 0 })
    #expect(fixture.buffers.bytes <= 100 * share)
    // All bytes are sent when there is credit, and all memory is released.
    var received = 0
    fixture.receive(.window(0, 10_000_000))
    for stream in stride(from: 1, to: 200, by: 2) {
      fixture.receive(.window(stream, 100_000))
      received += fixture.frames().filter { $0.kind == .data }.map(\.payload.count).reduce(0, +)
    }
    #expect(received > 0 && received <= 100 * length)
    #expect(fixture.buffers.bytes == 0)
  }

  @Test("Trailers that are not kept occupy no memory")
  func droppedTrailers() throws {
    let fixture = try SessionFixture()
    post(fixture, 1)
    fixture.receive(.data(1, "hello"))
    let before = fixture.buffers.bytes
    fixture.receive(.headers(1, [("x", String(repeating: "a", count: 4_000))]))
    #expect(fixture.buffers.bytes == before)
    #expect(fixture.text(1)?.hasSuffix("\r\ncontent-length: 5\r\n\r\nhello") == true)
  }

  @Test("Trailers count as memory in use until they are forwarded or their stream ends")
  func trailerMemory() throws {
    let fixture = try SessionFixture(keepsTrailers: true)
    let value = String(repeating: "a", count: 4_000)
    let size = "x: \(value)\r\n".utf8.count
    for stream in [1, 3] {
      post(fixture, stream)
      fixture.receive(.data(stream, "hello"))
      let before = fixture.buffers.bytes
      fixture.receive(.headers(stream, [("x", value)]))
      #expect(fixture.buffers.bytes == before + size)
    }
    fixture.receive(.reset(1, 8))
    _ = fixture.text(3)
    #expect(fixture.buffers.bytes == 0)

    // SETTINGS_INITIAL_WINDOW_SIZE: the trailers of the response wait behind its body.
    fixture.receive(.settings([(4, 0)]), .get(5))
    _ = fixture.text(5)
    let block = FieldBlock(fixture.buffers)
    block.append(":status", decimal: 200)
    let response = try #require(fixture.streams[5])
    fixture.session.respond(response, block, isFinal: true, endsStream: false)
    block.clear()
    fixture.write(5, "hello")
    let before = fixture.buffers.bytes
    fixture.session.finish(response, trailers: Array("x: \(value)\r\n".utf8))
    #expect(fixture.buffers.bytes == before + size)
    fixture.receive(.window(5, 100))
    #expect(fixture.frames().contains { $0.kind == .data })
    #expect(fixture.buffers.bytes == 0)
  }

  @Test("A stream whose response has ended still reports progress while the rest is sent")
  func progress() throws {
    let fixture = try SessionFixture()
    fixture.receive(.settings([(4, 0)]))
    fixture.receive(.get(1))
    let stream = try #require(fixture.streams[1])
    fixture.respond(1, part)
    _ = fixture.frames()
    for _ in 0..<2 {
      fixture.receive(.window(1, 100))
      let buffer = try #require(fixture.buffers.take())
      try fixture.session.produce(into: buffer)
      fixture.buffers.giveBack(buffer)
      var told: [Int32] = []
      fixture.session.takeChangedStreams { told.append($0.id) }
      #expect(told == [1])
    }
    #expect(stream.outboundBytes == part.utf8.count - 200)
  }

  @Test("A response is sent no faster than the client's windows allow, and its waiting part is limited")
  func response() throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(1))
    fixture.respond(1)
    fixture.receive(.get(3))
    let stream = try #require(fixture.streams[3])
    let block = FieldBlock(fixture.buffers)
    block.append(":status", decimal: 200)
    fixture.session.respond(stream, block, isFinal: true, endsStream: false)
    block.clear()
    var taken = 0
    var received = 0
    for _ in 0..<20 {
      taken += fixture.write(3, part)
      received += fixture.frames().filter { $0.kind == .data }.map(\.payload.count).reduce(0, +)
    }
    #expect(received == 65_535)
    #expect(taken - received <= 16 * 1024)
    fixture.receive(.window(0, 1000), .window(3, 1000))
    let more = fixture.frames().filter { $0.kind == .data }.map(\.payload.count).reduce(0, +)
    #expect(more == 1000)
  }

  @Test("Frames are complete, as many as there is room for, and one DATA frame fills a TLS record")
  func wholeFrames() throws {
    let fixture = try SessionFixture()
    for stream in stride(from: 1, through: 5, by: 2) { fixture.receive(.get(stream)) }
    _ = fixture.frames()
    let body = String(repeating: "x", count: 16_384)
    for stream in stride(from: 1, through: 5, by: 2) { fixture.respond(Int32(stream), body) }
    let buffer = try #require(fixture.buffers.take())
    var frames: [Int] = []
    var turns: [Int] = []
    while fixture.session.wantsToSend {
      try fixture.session.produce(into: buffer)
      var bytes = buffer.bytes(from: 0, count: buffer.count)
      buffer.clear()
      let lengths = Frame.take(from: &bytes).filter { $0.kind == .data }.map { $0.payload.count + 9 }
      #expect(bytes.isEmpty)
      frames += lengths
      turns.append(lengths.reduce(0, +))
    }
    fixture.buffers.giveBack(buffer)
    #expect(frames == [16_384, 16_384, 16_384])
    #expect(turns.max() == 16_384)
  }

  @Test("A response before the end of its request ends the stream, after a limited part of the rest")
  func early() throws {
    let fixture = try SessionFixture()
    post(fixture, 1)
    let stream = try #require(fixture.streams[1])
    fixture.session.stopReading(stream)
    fixture.respond(1, "no")
    let frames = fixture.frames().filter { $0.stream == 1 }
    #expect(frames.map(\.kind) == [.headers, .data])
    #expect(frames.last?.endsStream == true)
    // A limited part of the bytes in flight is read and dropped.
    var sent: [Frame] = []
    var count = 0
    while count < 40, !sent.contains(where: { $0.kind == .reset }) {
      fixture.receive(.data(1, part))
      sent += fixture.frames()
      count += 1
    }
    #expect(sent.contains { $0.kind == .windowUpdate && $0.stream == 1 })
    #expect(sent.last { $0.kind == .reset }?.word(at: 0) == 0)
    #expect(count == fixture.session.limits.discardedBytes / part.utf8.count + 1)
    #expect(fixture.failure == nil && fixture.buffers.inUse == 0)
  }

  @Test("A shutdown is announced twice, and streams that begin in between are served")
  func shutdown() throws {
    let fixture = try SessionFixture()
    fixture.session.sendShutdownNotice()
    let notice = fixture.frames()
    #expect(notice.first { $0.kind == .goAway }?.word(at: 0) == 0x7fff_ffff)
    let ping = try #require(notice.first { $0.kind == .ping })
    #expect(!fixture.session.isNoticeAcknowledged)
    fixture.receive(.get(1), Frame(.ping, flags: Frame.acknowledgement, payload: ping.payload))
    #expect(fixture.session.isNoticeAcknowledged)
    fixture.session.shutDown()
    #expect(fixture.frames().first { $0.kind == .goAway }?.word(at: 0) == 1)
    fixture.receive(.get(3))
    #expect(fixture.streams[3] == nil)
    fixture.respond(1, "ok")
    #expect(fixture.frames().contains { $0.kind == .data && $0.endsStream })
    #expect(fixture.session.hasEnded)
  }

  @Test("Every buffer is released")
  func buffers() throws {
    let fixture = try SessionFixture()
    for stream in stride(from: 1, to: 20, by: 2) {
      post(fixture, stream)
      fixture.receive(.data(stream, part))
      fixture.receive(.reset(stream))
      _ = fixture.frames()
    }
    #expect(fixture.buffers.inUse == 0)
  }
}
