import HTTP1
import Reactor

@testable import Proxy

/// Input: framing, a seed for split points, then a body as it arrives. The pump's output is read back as the same body,
/// and the trailers in it do not depend on how they arrive.
enum PumpTarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    guard input.count > 2 else { return }
    let wire = Array(input.dropFirst(2))
    let isChunked = input[0] & 1 == 0
    let output = input[0] & 2 == 0 ? BodyPump.Output.chunked : .plain
    let framing: BodyFraming =
      switch input[0] >> 2 & 3 {
      case 0, 1: .chunked
      case 2: .length(max(1, wire.count - Int(input[0] >> 4)))
      default: .untilClose
      }
    // A body with a length is forwarded with that length.
    if case .length = framing, case .chunked = output { return }
    guard let expected = body(wire, framing) else { return }
    let keepsTrailers = framing == .chunked && output == .chunked && input[0] & 16 == 0
    guard
      let written = try pump(
        wire, framing, output, keepsTrailers: keepsTrailers, seed: input[1], tiny: isChunked)
    else { return }
    switch output {
    case .plain: try Violation.unless(written == expected, "the body that was written is another one")
    case .chunked:
      let read = ChunkReader.read(written)
      try Violation.unless(
        read == ChunkReader.DecisionWithFindings(body: expected, consumed: written.count),
        "the chunks that were written do not read back")
      try checkTrailers(written, of: keepsTrailers ? ChunkReader.trailers(wire) ?? [] : [])
    }
  }

  /// Names that no trailer may have.
  private static let meaningful: Set<String> = [
    "content-length", "transfer-encoding", "host", "connection", "te", "trailer", "upgrade", "expect", "authorization",
    "cookie", "set-cookie", "location", "content-type", "x-forwarded-for", "x_forwarded_for",
  ]

  /// The trailers in `written` are a part of those that arrived, in their order, and none has a meaning in a head.
  private static func checkTrailers(_ written: [UInt8], of arrived: [[UInt8]]) throws(Violation) {
    var rest = arrived[...]
    for line in ChunkReader.trailers(written) ?? [] {
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      try Violation.unless(
        !meaningful.contains(String(decoding: name, as: UTF8.self).lowercased()), "a trailer with a meaning in a head")
      let value = trimmed(line[(name.endIndex + 1)...])
      while let next = rest.first, !(next.starts(with: name + [0x3a]) && trimmed(next[(name.count + 1)...]) == value) {
        rest.removeFirst()
      }
      try Violation.unless(rest.popFirst() != nil, "a trailer that has not arrived")
    }
  }

  private static func trimmed(_ value: ArraySlice<UInt8>) -> [UInt8] {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    return Array(value.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
  }

  private static func body(_ wire: [UInt8], _ framing: BodyFraming) -> [UInt8]? {
    switch framing {
    case .none: []
    case .length(let count): Array(wire.prefix(count))
    case .chunked: ChunkReader.read(wire)?.body
    case .untilClose: wire
    }
  }

  /// Returns nil if the trailers exceed the limits. Moves the body as an exchange does, with a peer that sends and a socket that accepts random numbers of bytes.
  private static func pump(
    _ wire: [UInt8], _ framing: BodyFraming, _ output: BodyPump.Output, keepsTrailers: Bool, seed: UInt8, tiny: Bool
  ) throws(Violation) -> [UInt8]? {
    let pool = BufferPool(reserve: 0)
    guard let source = pool.take(), let sink = pool.take() else { throw Violation("no memory") }
    var pump = BodyPump(framing, as: output)
    pump.keepsTrailers = keepsTrailers
    var trailers: [UInt8] = []
    var splits = Splits(seed: seed)
    var written: [UInt8] = []
    var arrived = 0
    var hasClosed = false
    // Every turn moves bytes or ends; more turns than bytes mean that a turn does neither.
    for _ in 0..<(4 * wire.count + 64) {
      if source.receiveRoom == 0 { source.compact() }
      let count = min(source.receiveRoom, wire.count - arrived, splits.next(limit: tiny ? 7 : 9000))
      source.append(wire, in: arrived..<arrived + count)
      arrived += count
      do throws(MessageError) {
        try pump.advance(from: source, to: sink)
        if pump.awaitsTrailers, sink.isEmpty {
          try pump.takeTrailers(from: source, into: &trailers)
          if pump.hasReadEnd {
            pump.finish(
              withTrailers: try TrailerFields.forwardable(trailers, into: HeadIndex()) { _, _ in true }, to: sink)
          }
        }
      } catch {
        // More trailers than are forwarded.
        if keepsTrailers, error.status != 400 { return nil }
        throw Violation("a whole body is refused: \(error)")
      }
      if arrived == wire.count, source.isEmpty || pump.directCount == source.count, !hasClosed, framing == .untilClose,
        pump.directCount == 0
      {
        hasClosed = true
        try Violation.unless(pump.endBody(into: sink), "the end of the connection does not end the body")
      }
      // The socket accepts bytes of the send buffer first, then those that may be sent directly.
      let taken = min(sink.count + pump.directCount, splits.next(limit: tiny ? 11 : 20_000))
      let fromSink = min(sink.count, taken)
      written += sink.bytes(from: 0, count: fromSink)
      sink.consume(fromSink)
      if sink.isEmpty { sink.clear() } else { sink.compact() }
      let direct = taken - fromSink
      if direct > 0 {
        written += source.bytes(from: 0, count: direct)
        source.consume(direct)
        pump.sentDirect(direct)
      }
      if pump.isDrained, sink.isEmpty { return written }
    }
    throw Violation("the pump does not come to an end")
  }
}
