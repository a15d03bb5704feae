import HTTP1
import Reactor
import Testing

@testable import Proxy

@Suite("The rest of a body")
struct BodyPumpTests {
  private let buffers = BufferPool()

  private func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

  @Test("A rest that fills its buffer alone changes places with the empty buffer of the client, and is not copied")
  func exchange() throws {
    let (source, sink) = (buffers.take(), buffers.take())
    var pump = BodyPump(.length(15_000), as: .plain)
    source.append(bytes(15_000))
    try pump.advance(from: source, to: sink)
    source.consume(4_000)
    pump.sentDirect(4_000)
    let start = source.start
    let isMoved = pump.moveRest(from: source, to: sink)
    #expect(isMoved && pump.isDrained && pump.directCount == 0)
    #expect(source.isEmpty && sink.count == 11_000 && sink.start == start)
  }

  @Test("A rest is copied if bytes follow it or if the client's buffer holds others")
  func copy() throws {
    for (head, excess) in [(0, 7), (100, 0), (100, 7)] {
      let (source, sink) = (buffers.take(), buffers.take())
      var pump = BodyPump(.length(5_000), as: .plain)
      sink.append(bytes(head))
      source.append(bytes(5_000 + excess))
      try pump.advance(from: source, to: sink)
      let isMoved = pump.moveRest(from: source, to: sink)
      #expect(isMoved && pump.isDrained && pump.directCount == 0)
      #expect(source.count == excess && sink.count == head + 5_000)
    }
  }

  @Test("A body that is not complete, or whose rest does not fit, stays where it is")
  func noRest() throws {
    for (length, head) in [(5_001, 0), (5_000, 17_000)] {
      let (source, sink) = (buffers.take(), buffers.take())
      var pump = BodyPump(.length(length), as: .plain)
      sink.append(bytes(head))
      source.append(bytes(5_000))
      try pump.advance(from: source, to: sink)
      let isMoved = pump.moveRest(from: source, to: sink)
      #expect(!isMoved && !pump.isDrained)
      #expect(pump.directCount == 5_000 && source.count == 5_000 && sink.count == head)
    }
  }

  @Test("A chunked body is complete once its last chunk was read")
  func chunked() throws {
    let (source, sink) = (buffers.take(), buffers.take())
    var pump = BodyPump(.chunked, as: .chunked)
    source.append("3\r\nabc\r\n")
    try pump.advance(from: source, to: sink)
    let isMovedEarly = pump.moveRest(from: source, to: sink)
    source.append("0\r\n\r\n")
    try pump.advance(from: source, to: sink)
    let isMoved = pump.moveRest(from: source, to: sink)
    #expect(!isMovedEarly && isMoved && source.isEmpty)
    #expect(sink.bytes(from: 0, count: sink.count) == Array("3\r\nabc\r\n0\r\n\r\n".utf8))
  }
}
