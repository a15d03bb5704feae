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
    let (source, sink) = try (#require(buffers.take()), #require(buffers.take()))
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
      let (source, sink) = try (#require(buffers.take()), #require(buffers.take()))
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
      let (source, sink) = try (#require(buffers.take()), #require(buffers.take()))
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
    let (source, sink) = try (#require(buffers.take()), #require(buffers.take()))
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

  @Test("Small chunks that have arrived together are sent as one, and a large one as it is")
  func smallChunks() throws {
    let small = String(repeating: "1\r\na\r\n", count: 1_000)
    let joined = "3e8\r\n\(String(repeating: "a", count: 1_000))\r\n"
    let large = "64\r\n\(String(repeating: "b", count: 100))\r\n"
    for (body, expected) in [(small, joined), (large + large, large + large), (large + small, large + joined)] {
      let written = try pumped(Array("\(body)0\r\n\r\n".utf8), cuts: [], .chunked)
      #expect(written == expected + "0\r\n\r\n")
      let plain = try pumped(Array("\(body)0\r\n\r\n".utf8), cuts: [], .plain)
      #expect(plain.utf8.count == (body == small ? 1_000 : body == large + large ? 200 : 1_100))
    }
    let trailers = try pumped(Array("\(small)0\r\nA: b\r\n\r\n".utf8), cuts: [small.utf8.count + 4], .chunked)
    #expect(trailers == joined + "0\r\nA: b\r\n\r\n")
    #expect(throws: MessageError.self) {
      try pumped(Array("\(small)x".utf8), cuts: [], .chunked)
    }
  }

  @Test("Trailers are the same however they arrive, and do not reach a body without chunks")
  func trailers() throws {
    let wire = Array("3\r\nabc\r\n0\r\nA: b\r\nHost: c\r\nD:\r\n\r\n".utf8)
    for output in [BodyPump.Output.chunked, .plain] {
      let expected = output == .chunked ? "3\r\nabc\r\n0\r\nA: b\r\nD: \r\n\r\n" : "abc"
      // The chunk with the data arrives as a whole: it would otherwise become several chunks.
      let start = "3\r\nabc\r\n".utf8.count
      let bytewise = try pumped(wire, cuts: Array(start..<wire.count), output)
      #expect(bytewise == expected)
      for cut in start..<wire.count {
        let written = try pumped(wire, cuts: [cut], output)
        #expect(written == expected)
      }
    }
    let bare = try pumped(Array("0\r\n\r\n".utf8), cuts: [3, 4], .chunked)
    #expect(bare == "0\r\n\r\n")
  }

  /// Returns the output for a body that arrives in pieces, as an exchange moves it.
  private func pumped(_ wire: [UInt8], cuts: [Int], _ output: BodyPump.Output) throws -> String {
    let (source, sink) = try (#require(buffers.take()), #require(buffers.take()))
    var pump = BodyPump(.chunked, as: output)
    pump.keepsTrailers = output == .chunked
    var (arrived, written, section): (Int, [UInt8], [UInt8]) = (0, [], [])
    for cut in cuts + [wire.count] {
      source.append(wire, in: arrived..<cut)
      arrived = cut
      for _ in 0..<2 {
        if !source.isEmpty, !pump.hasReadEnd { try pump.advance(from: source, to: sink) }
        written += sink.bytes(from: 0, count: sink.count)
        sink.clear()
        guard pump.awaitsTrailers else { continue }
        try pump.takeTrailers(from: source, into: &section)
        guard pump.hasReadEnd else { continue }
        pump.finish(
          withTrailers: try TrailerFields.forwardable(section, into: HeadIndex()) { _, _ in true }, to: sink)
      }
    }
    #expect(pump.isDrained && source.isEmpty)
    return String(decoding: written, as: UTF8.self)
  }
}
