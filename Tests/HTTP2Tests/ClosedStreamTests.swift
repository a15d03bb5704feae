import HTTP2
import HTTP2TestSupport
import Testing
import Time

/// Frames that RFC 9113, section 5.1, does not allow in the state of their stream: the cases of `h2spec --strict` that
/// nghttp2 does not handle by itself, and similar ones.
struct ClosedStreamTests {
  private static let priority: [UInt8] = [0, 0, 0, 0, 15]

  /// The error code with which the stream was reset or the connection ended.
  private func code(_ frames: [Frame], stream: Int = 1) -> Int? {
    for frame in frames {
      if frame.kind == .goAway { return frame.word(at: 4) }
      if frame.kind == .reset, frame.stream == stream { return frame.word(at: 0) }
    }
    return nil
  }

  private static let late: [Frame] = [
    .data(1, "x"), .data(1, "x", endsStream: true), .data(1, ""), .get(1),
    .headers(1, [("x", "y")]),
    Frame(.headers, stream: 1, payload: FieldWriter.write(Frame.request("GET", "/"))),
  ]

  @Test("DATA and HEADERS after RST_STREAM are STREAM_CLOSED", arguments: late)
  func afterReset(_ frame: Frame) throws {
    for isWhole in [false, true] {
      let fixture = try SessionFixture()
      fixture.receive(.headers(1, Frame.request("POST", "/"), endsStream: isWhole), .reset(1), frame)
      #expect(code(fixture.frames()) == 5, "\(isWhole)")
    }
  }

  @Test("DATA and HEADERS after END_STREAM are STREAM_CLOSED, before and after the response", arguments: late)
  func afterEnd(_ frame: Frame) throws {
    for isAnswered in [false, true] {
      for endsWithData in [false, true] {
        let fixture = try SessionFixture()
        fixture.receive(.headers(1, Frame.request("POST", "/"), endsStream: !endsWithData))
        if endsWithData { fixture.receive(.data(1, "x", endsStream: true)) }
        if isAnswered {
          fixture.respond(1, "ok")
          _ = fixture.frames()
        }
        fixture.receive(frame)
        #expect(code(fixture.frames()) == 5, "\(isAnswered) \(endsWithData)")
      }
    }
  }

  @Test("A CONTINUATION after the end of its field section ends the connection")
  func continuation() throws {
    for frame in [Frame.reset(1), Frame.window(0, 1)] {
      let fixture = try SessionFixture()
      fixture.receive(.get(1), frame, Frame(.continuation, flags: Frame.endHeaders, stream: 1, payload: [0x88]))
      #expect(code(fixture.frames()) == 1)
    }
  }

  @Test("A new stream with a lower number than an earlier one is PROTOCOL_ERROR")
  func lower() throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(5), .get(3))
    #expect(code(fixture.frames(), stream: 3) == 1)
    #expect(fixture.streams[3] == nil)
  }

  @Test("DATA on a skipped stream is STREAM_CLOSED")
  func passedOver() throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(5), .data(3, "x"))
    #expect(code(fixture.frames(), stream: 3) == 5)
  }

  @Test("A stream with an even number, and frames on an idle stream, are PROTOCOL_ERROR")
  func idle() throws {
    for frame in [Frame.get(2), .data(7, "x"), .reset(7), .window(7, 1), .data(2, "x")] {
      let fixture = try SessionFixture()
      fixture.receive(.get(1), frame)
      #expect(code(fixture.frames(), stream: frame.stream) == 1, "\(frame)")
    }
  }

  @Test("A priority that depends on its own stream, or is on stream 0, is PROTOCOL_ERROR")
  func priority() throws {
    let onItself = Frame.word(1) + [15]
    let fields = FieldWriter.write(Frame.request("GET", "/"))
    for frame in [
      Frame(.priority, stream: 1, payload: onItself), Frame(.priority, stream: 0, payload: Self.priority),
      // With the exclusive bit; and in HEADERS, without and with padding.
      Frame(.priority, stream: 1, payload: [0x80, 0, 0, 1, 15]),
      Frame(.headers, flags: Frame.endHeaders | Frame.endStream | 0x20, stream: 1, payload: onItself + fields),
      Frame(
        .headers, flags: Frame.endHeaders | Frame.endStream | 0x20 | Frame.padded, stream: 1,
        payload: [2] + onItself + fields + [0, 0]),
    ] {
      let whole = try SessionFixture()
      whole.receive(frame)
      #expect(code(whole.frames()) == 1, "\(frame)")
      // The same byte by byte.
      let pieces = try SessionFixture()
      for byte in frame.bytes { pieces.receive([byte]) }
      #expect(code(pieces.frames()) == 1, "\(frame)")
    }
  }

  @Test("A priority of another stream is allowed in every state, and PRIORITY of another length is FRAME_SIZE_ERROR")
  func allowedPriority() throws {
    let fixture = try SessionFixture()
    fixture.receive(
      Frame(.priority, stream: 9, payload: Frame.word(7) + [15]), .get(1), .reset(1),
      Frame(.priority, stream: 1, payload: Self.priority), .get(3), .get(11),
      Frame(.priority, stream: 5, payload: Frame.word(1) + [15]))
    #expect(code(fixture.frames()) == nil && fixture.failure == nil)
    #expect(fixture.streams[3] != nil && fixture.streams[11] != nil)
    fixture.receive(Frame(.priority, stream: 3, payload: [0, 0, 0, 0]))
    #expect(code(fixture.frames(), stream: 3) == 6)
  }

  @Test("RST_STREAM and WINDOW_UPDATE on an ended stream are ignored")
  func ignored() throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(1))
    fixture.respond(1, "ok")
    _ = fixture.frames()
    fixture.receive(.window(1, 10), .reset(1), .get(3))
    #expect(code(fixture.frames()) == nil)
    #expect(fixture.streams[3] != nil)
  }

  @Test("Frames in flight after the gateway's own reset are ignored, and the other streams continue")
  func ownReset() throws {
    let fixture = try SessionFixture()
    fixture.receive(.headers(1, Frame.request("POST", "/"), endsStream: false))
    let stream = try #require(fixture.streams[1])
    fixture.session.reset(stream, .cancel)
    #expect(code(fixture.frames()) == 8)
    fixture.receive(.data(1, "x"), .get(3), .data(1, "x"), .headers(1, [("x", "y")]), .get(5))
    #expect(code(fixture.frames()) == nil && fixture.failure == nil)
    #expect(fixture.streams[3] != nil && fixture.streams[5] != nil)
    // The client's own end of the stream still counts.
    fixture.receive(.data(1, "x"))
    #expect(code(fixture.frames()) == 5)
  }

  @Test("Frames on a stream that the session has forgotten are ignored")
  func forgotten() throws {
    let fixture = try SessionFixture()
    var reset = 0
    for stream in stride(from: 1, to: 1_000, by: 2) {
      fixture.receive(
        .headers(stream, Frame.request("POST", "/"), endsStream: false),
        now: MonotonicTime(milliseconds: UInt64(stream) * 1_000))
      if let begun = fixture.streams[Int32(stream)] { fixture.session.reset(begun, .cancel) }
      reset += fixture.frames().count { $0.kind == .reset }
    }
    #expect(reset == 500)
    fixture.receive(.data(1, "x"), .data(999, "x"), .get(1_001), now: 2_000_000)
    #expect(code(fixture.frames()) == nil && fixture.failure == nil)
    #expect(fixture.streams[1_001] != nil)
  }
}
