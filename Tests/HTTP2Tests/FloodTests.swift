import HTTP2
import HTTP2TestSupport
import Testing
import Time

/// Attack class 15: frames that cost the gateway more than the client end the connection with ENHANCE_YOUR_CALM.
struct FloodTests {
  private func isCalmed(_ fixture: SessionFixture, _ flood: HTTP2Flood) -> Bool {
    let goAway = fixture.frames().last { $0.kind == .goAway }
    return fixture.failure == .flood(flood) && goAway?.word(at: 4) == 11
  }

  @Test("Streams that are reset as soon as they begin end the connection before one is served (CVE-2023-44487)")
  func rapidReset() throws {
    let fixture = try SessionFixture()
    var bytes: [UInt8] = []
    for stream in stride(from: 1, to: 400, by: 2) { bytes += Frame.get(stream).bytes + Frame.reset(stream).bytes }
    fixture.receive(bytes)
    #expect(isCalmed(fixture, .resets))
    #expect(fixture.streams.isEmpty)
  }

  @Test(
    "Streams that the client makes the server reset count too (CVE-2025-8671)",
    arguments: [
      { [Frame.get($0), Frame.window($0, 0x7fff_ffff)] },
      { [Frame.headers($0, [(":method", "GET")])] },
      { [Frame.get($0, "/", [("x", "a\r\nb")])] },
      { [Frame.headers($0, Frame.request("POST", "/") + [("content-length", "1")])] },
    ] as [@Sendable (Int) -> [Frame]])
  func madeYouReset(_ fault: @Sendable (Int) -> [Frame]) throws {
    let fixture = try SessionFixture()
    var begun = 0
    for stream in stride(from: 1, to: 600, by: 2) {
      fixture.receive(fault(stream).flatMap(\.bytes))
      begun += 1
      _ = fixture.frames()
      if fixture.failure != nil { break }
    }
    #expect(fixture.failure == .flood(.resets))
    #expect(begun <= 102)
  }

  @Test(
    "Frames on a stream that violate the protocol end the connection at once",
    arguments: [Frame.window(1, 0), Frame.data(1, "x", endsStream: true), Frame.data(0, "x"), Frame(.pushPromise)])
  func broken(_ frame: Frame) throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(1), frame)
    #expect(fixture.frames().last?.kind == .goAway)
    #expect(fixture.session.hasEnded)
  }

  @Test(
    "Frames without content end the connection",
    arguments: [
      Frame(.ping, payload: [0, 0, 0, 0, 0, 0, 0, 0]), Frame.settings(), Frame.window(0, 1),
      Frame(.priority, stream: 1, payload: [0, 0, 0, 0, 0]), Frame(.unknown), Frame.data(1, ""),
      Frame(.data, flags: Frame.padded, stream: 1, payload: [2, 0, 0]),
    ])
  func control(_ frame: Frame) throws {
    let fixture = try SessionFixture()
    fixture.receive(.headers(1, Frame.request("POST", "/"), endsStream: false))
    for _ in 0..<110 where fixture.failure == nil {
      fixture.receive([[UInt8]](repeating: frame.bytes, count: 10).flatMap { $0 })
      if fixture.failure == nil { _ = fixture.frames() }
    }
    #expect(isCalmed(fixture, .controlFrames))
  }

  @Test("A field section in many frames ends the connection (CVE-2024-28182)")
  func continuations() throws {
    let fixture = try SessionFixture()
    fixture.receive(Frame(.headers, stream: 1, payload: FieldWriter.write(Frame.request("GET", "/"))))
    for _ in 0..<9 { fixture.receive(Frame(.continuation, stream: 1, payload: FieldWriter.write([("x", "y")]))) }
    #expect(fixture.failure == .flood(.continuations))
    #expect(fixture.streams.isEmpty)
  }

  /// Returns a field section with a field of 3,900 bytes and `count` references to it, of one byte each.
  private func section(_ count: Int) -> [UInt8] {
    let value = String(repeating: "a", count: 3900)
    // A literal with indexing.
    let entry =
      [0x40, 1, 0x78] + [127, UInt8((3900 - 127) % 128 | 128), UInt8((3900 - 127) / 128)] + Array(value.utf8)
    return FieldWriter.write(Frame.request("GET", "/")) + entry + [UInt8](repeating: 0xbe, count: count)
  }

  @Test("A field section of more than 64 KiB after decoding ends the connection", arguments: [15, 16])
  func amplified(count: Int) throws {
    let fixture = try SessionFixture()
    fixture.receive(Frame(.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: section(count)))
    if count == 15 {
      #expect(fixture.failure == nil)
      #expect(fixture.streams[1]?.isTooLarge == true)
    } else {
      #expect(isCalmed(fixture, .fields))
      #expect(fixture.streams.isEmpty)
    }
  }

  @Test("Field sections too large to forward count like resets, and none is decoded after the budget is used up")
  func tooLarge() throws {
    let fixture = try SessionFixture()
    let flags = Frame.endHeaders | Frame.endStream
    // The entry of the first section is the newest of the table.
    let references = FieldWriter.write(Frame.request("GET", "/")) + [UInt8](repeating: 0xbe, count: 5)
    for number in 0..<100 {
      let payload = number == 0 ? section(4) : references
      fixture.receive(Frame(.headers, flags: flags, stream: 1 + 2 * number, payload: payload))
      #expect(fixture.streams[Int32(1 + 2 * number)]?.isTooLarge == true)
      fixture.respond(Int32(1 + 2 * number))
      _ = fixture.frames()
    }
    #expect(fixture.failure == nil)
    let rest = (100..<150).map { Frame(.headers, flags: flags, stream: 1 + 2 * $0, payload: references).bytes }
    fixture.receive(rest.flatMap { $0 })
    #expect(isCalmed(fixture, .resets))
    #expect(fixture.streams.count == 101)
  }

  @Test("A field section that grows without limit when it is decoded ends the connection")
  func bomb() throws {
    let fixture = try SessionFixture()
    let value = String(repeating: "a", count: 3900)
    // A literal with indexing, then references to it of one byte each.
    let entry =
      [0x40, 1, 0x78] + [127, UInt8((3900 - 127) % 128 | 128), UInt8((3900 - 127) / 128)] + Array(value.utf8)
    let section = FieldWriter.write(Frame.request("GET", "/")) + entry + [UInt8](repeating: 0xbe, count: 8000)
    fixture.receive(Frame(.headers, flags: Frame.endHeaders | Frame.endStream, stream: 1, payload: section))
    #expect(isCalmed(fixture, .fields))
    #expect(fixture.streams.isEmpty)
  }

  @Test("Requests and time increase the number of control frames that a client may send")
  func earned() throws {
    let fixture = try SessionFixture()
    for stream in stride(from: 1, to: 4_000, by: 2) {
      fixture.receive(
        .window(0, 1), .get(stream), .window(stream, 1), Frame(.priority, stream: stream, payload: [0, 0, 0, 0, 0]))
      fixture.respond(Int32(stream), "ok")
      _ = fixture.frames()
    }
    #expect(fixture.failure == nil)
    for second in 1..<100 {
      for offset in 0..<5 {
        let stream = 4_001 + (second * 5 + offset) * 2
        fixture.receive(.get(stream), .reset(stream), now: MonotonicTime(milliseconds: UInt64(second) * 1000))
      }
    }
    #expect(fixture.failure == nil)
  }
}
