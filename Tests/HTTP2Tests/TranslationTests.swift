import HTTP2
import HTTP2TestSupport
import Testing

/// The HTTP/1.1 form of a request, as the code that serves HTTP/1.1 reads it.
struct TranslationTests {
  private static let get = Frame.request("GET", "/a?b=c")

  private static let malformedRequests: [[(String, String)]] = [
    Frame.request(path: nil),
    Frame.request(scheme: nil),
    Frame.request(method: nil),
    Frame.request((":path", "/b")),
    Frame.request((":method", "POST")),
    Frame.request((":scheme", "http")),
    Frame.request((":authority", "a")),
    Frame.request((":status", "200")),
    Frame.request((":protocol", "websocket")),
    Frame.request((":x", "y")),
    Frame.request(
      method: nil, scheme: nil, path: nil, ("x", "y"), (":method", "GET"), (":scheme", "http"), (":path", "/")),
    Frame.request(path: ""),
    Frame.request(path: "http://b/"),
    Frame.request(path: "/ HTTP/1.1\r\nx: y"),
    Frame.request(path: "/a b"),
    Frame.request(path: "/a\tb"),
    Frame.request(path: " /abcdefg"),
    Frame.request(path: "/abcdef gh"),
    Frame.request(path: "/abcdefg\thi"),
    Frame.request(path: "/abcdefghijklmn op"),
    Frame.request(path: "/a\0b"),
    Frame.request(path: "/a\u{7f}"),
    Frame.request(authority: "a b"),
    Frame.request(authority: "gateway. test"),
    Frame.request(authority: "a\u{1}"),
    Frame.request(method: "GET / HTTP/1.1\r\nx:"),
    Frame.request(method: "GET /admin?"),
    Frame.request(scheme: "ftp"),
    Frame.request(authority: "a\r\nx: y"),
    Frame.request(("X-Upper", "1")),
    Frame.request(("x-long-Upper", "1")),
    Frame.request(("x-longer-name-with-Upper", "1")),
    Frame.request(("xxxxxxxx:y", "1")),
    Frame.request(("xxxxxxx yyyyyyyy", "1")),
    Frame.request(("xxxxxxxx\u{e9}", "1")),
    Frame.request(("x y", "1")),
    Frame.request(("x:", "1")),
    Frame.request(("", "1")),
    Frame.request(("x\r\ny", "1")),
    Frame.request(("x\ty", "1")),
    Frame.request(("x\0", "1")),
    Frame.request(("x", "a\r\ny: b")),
    Frame.request(("x", "a\nb")),
    Frame.request(("x", "a\0b")),
    Frame.request(("x", "a\rb")),
    Frame.request(("x", " a")),
    Frame.request(("x", "a\t")),
    Frame.request(("x", "a\u{7f}")),
    Frame.request(("x", "a"), ("y", String(repeating: "a", count: 40) + "\u{1f}")),
    Frame.request(("connection", "close")),
    Frame.request(("transfer-encoding", "chunked")),
    Frame.request(("upgrade", "h2c")),
    Frame.request(("keep-alive", "1")),
    Frame.request(("proxy-connection", "x")),
    Frame.request(("te", "chunked")),
    Frame.request(("te", "trailers, x")),
    Frame.request(("host", "b")),
    Frame.request(("host", "gateway.test"), ("host", "gateway.test")),
    Frame.request(("content-length", "5")),
    Frame.request(("content-length", "0"), ("content-length", "0")),
    Frame.request(("content-length", "+0")),
    Frame.request(("content-length", "")),
    Frame.request(("content-length", "0, 0")),
    Frame.request(("content-length", "99999999999999999999")),
    Frame.request(method: "CONNECT", authority: "a:1"),
  ]

  @Test("A request becomes exactly one HTTP/1.1 head")
  func head() throws {
    let fixture = try SessionFixture()
    fixture.receive(
      .headers(
        1,
        Self.get + [
          ("accept", "*/*"), ("cookie", "a=1"), ("te", "trailers"), ("x-empty", ""), ("cookie", "b=2"),
          ("host", "Gateway.test"), ("x-tab", "a\tb"),
        ]))
    let head =
      "GET /a?b=c HTTP/1.1\r\nhost: gateway.test\r\naccept: */*\r\nte: trailers\r\nx-empty: \r\nx-tab: a\tb\r\n"
      + "cookie: a=1; b=2\r\n\r\n"
    #expect(fixture.streams[1]?.headLength == nil)
    #expect(fixture.text(1) == head)
    #expect(fixture.streams[1]?.headLength == head.utf8.count)
  }

  @Test("Host replaces a missing :authority")
  func host() throws {
    let fixture = try SessionFixture()
    fixture.receive(
      .headers(1, [(":method", "OPTIONS"), (":scheme", "https"), (":path", "*"), ("host", "gateway.test")]))
    #expect(fixture.text(1) == "OPTIONS * HTTP/1.1\r\nhost: gateway.test\r\n\r\n")
  }

  @Test("A body has its announced length, its actual length, or chunks")
  func bodies() throws {
    let fixture = try SessionFixture(keepsTrailers: true)
    let post = Frame.request("POST", "/")
    fixture.receive(
      .headers(1, post + [("content-length", "5")], endsStream: false), .data(1, "hello", endsStream: true))
    let text = try #require(fixture.text(1))
    #expect(text.hasSuffix("\r\ncontent-length: 5\r\n\r\nhello"))
    #expect(fixture.streams[1]?.headLength == text.utf8.count - 5)
    fixture.receive(.headers(3, post, endsStream: false), .data(3, "hel"), .data(3, "lo", endsStream: true))
    #expect(fixture.text(3)?.hasSuffix("\r\ncontent-length: 5\r\n\r\nhello") == true)
    fixture.receive(.headers(5, post, endsStream: false), .data(5, "hello"))
    let chunked = try #require(fixture.text(5))
    #expect(chunked.hasSuffix("\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"))
    #expect(fixture.streams[5]?.headLength == chunked.utf8.count - 10)
    fixture.receive(.data(5, "GET / HTTP/1.1\r\n\r\n"), .headers(5, [("x-trailer", "1")]))
    #expect(fixture.text(5) == "12\r\nGET / HTTP/1.1\r\n\r\n\r\n0\r\nx-trailer: 1\r\n\r\n")
    fixture.receive(.headers(7, post, endsStream: false), .data(7, "", endsStream: true))
    #expect(fixture.text(7) == "POST / HTTP/1.1\r\nhost: gateway.test\r\n\r\n")
  }

  @Test(
    "A malformed request is reset and never read (attack class 9)",
    arguments: malformedRequests)
  func malformed(_ fields: [(String, String)]) throws {
    let fixture = try SessionFixture()
    fixture.receive(.headers(1, fields))
    #expect(fixture.text(1) == nil)
    let frames = fixture.frames()
    #expect(frames.contains { $0.kind == .reset && $0.stream == 1 && $0.word(at: 0) == 1 })
    // The connection continues.
    fixture.receive(.get(3))
    #expect(fixture.text(3) == "GET / HTTP/1.1\r\nhost: gateway.test\r\n\r\n")
  }

  @Test(
    "A body that differs from its announced length resets its stream before another byte is read (attack class 9)",
    arguments: [[Frame.data(1, "hell", endsStream: true)], [Frame.data(1, "hello!")]])
  func lengths(_ frames: [Frame]) throws {
    let fixture = try SessionFixture()
    fixture.receive(.headers(1, Frame.request("POST", "/") + [("content-length", "5")], endsStream: false))
    fixture.receive(frames.flatMap(\.bytes))
    let resets = fixture.frames().filter { $0.kind == .reset }
    #expect(resets.map { $0.word(at: 0) } == [1])
    let stream = try #require(fixture.streams[1])
    #expect(stream.isClosed)
  }

  @Test(
    "Malformed trailers reset their stream, and so do trailers that do not end it, are too long or too many",
    arguments: [
      ([("x", "a\r\nb")], true), ([("X", "a")], true), ([("x ", "a")], true), ([("x", " a")], true),
      ([(":status", "200")], true), ([(":path", "/b")], true), ([("x", "a"), (":method", "GET")], true),
      ([("transfer-encoding", "chunked")], true), ([("connection", "x")], true), ([("content-length", "9")], true),
      ([("x", "a")], false),
      ([("x", String(repeating: "a", count: 4_090))], true), (Array(repeating: ("x", "a"), count: 101), true),
    ])
  func malformedTrailers(_ trailers: [(String, String)], endsStream: Bool) throws {
    for keepsTrailers in [false, true] {
      let fixture = try SessionFixture(keepsTrailers: keepsTrailers)
      fixture.receive(
        .headers(1, Frame.request("POST", "/"), endsStream: false), .data(1, "hello"),
        .headers(1, trailers, endsStream: endsStream))
      #expect(fixture.frames().contains { $0.kind == .reset && $0.word(at: 0) == 1 })
      #expect((fixture.text(1) ?? "").isEmpty)
    }
  }

  @Test("If trailers are not kept, a request has the same form as without them")
  func droppedTrailers() throws {
    let fixture = try SessionFixture()
    let post = Frame.request("POST", "/")
    let start = "POST / HTTP/1.1\r\nhost: gateway.test\r\n"
    fixture.receive(.headers(1, post, endsStream: false), .data(1, "hello"), .headers(1, [("x", "a")]))
    #expect(fixture.text(1) == "\(start)content-length: 5\r\n\r\nhello")
    fixture.receive(.headers(3, post, endsStream: false), .data(3, "hello"))
    #expect(fixture.text(3) == "\(start)transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
    fixture.receive(.headers(3, [("x", "a")]))
    #expect(fixture.text(3) == "0\r\n\r\n")
  }

  @Test("A request with trailers has chunks if it has a body without a length; otherwise they are dropped")
  func trailers() throws {
    let fixture = try SessionFixture(keepsTrailers: true)
    let post = Frame.request("POST", "/")
    let long = String(repeating: "a", count: 4_089)
    fixture.receive(.headers(1, post, endsStream: false), .data(1, "hello"), .headers(1, [("x", long)]))
    #expect(
      fixture.text(1)
        == "POST / HTTP/1.1\r\nhost: gateway.test\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx: \(long)\r\n\r\n"
    )
    fixture.receive(
      .headers(3, post + [("content-length", "5")], endsStream: false), .data(3, "hello"), .headers(3, [("x", "a")]))
    #expect(fixture.text(3)?.hasSuffix("\r\ncontent-length: 5\r\n\r\nhello") == true)
    fixture.receive(.headers(5, post, endsStream: false), .headers(5, [("x", "a")]))
    #expect(fixture.text(5) == "POST / HTTP/1.1\r\nhost: gateway.test\r\n\r\n")
  }

  @Test("A field section larger than HTTP/1.1 allows is answered, not forwarded")
  func large() throws {
    let fixture = try SessionFixture()
    fixture.receive(.get(1, "/", [("x", String(repeating: "a", count: 16_300))]))
    let stream = try #require(fixture.streams[1])
    #expect(stream.isTooLarge)
    fixture.receive(.get(3, "/", [("x", String(repeating: "a", count: 16_000))]))
    #expect(fixture.streams[3]?.isTooLarge == false)
    #expect(fixture.text(3)?.utf8.count ?? 0 > 16_000)
  }
}
