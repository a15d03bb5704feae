import HTTP2TestSupport
import Proxy
import Reactor
import Synchronization
import Testing

extension ProxyTests {
  /// 103 (Early Hints) of the upstream. `ResponseDesyncTests` has more interim responses than the gateway accepts.
  struct EarlyHintTests {
    private static let hints =
      "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\nSet-Cookie: a=b\r\nX-Other: 1\r\n"
      + "link: </b.js>; rel=preload\r\nLocation: /x\r\n\r\n"
    private static let forwarded =
      "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload; as=style\r\nLink: </b.js>; rel=preload\r\n\r\n"
    private static let final = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-End: 1\r\n\r\nok"

    /// Returns all bytes of the response to a GET that is the last of its connection.
    private static func response(
      _ answer: String, _ target: String = "/", version: String = "1.1", _ fields: String = ""
    ) async throws -> String {
      let text = TextBox()
      try await Bench.Setup(upstream: ScriptedUpstream.answering(answer)).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET \(target) HTTP/\(version)\r\nHost: a\r\nConnection: close\r\n\(fields)\r\n")
        text.value = String(decoding: try await client.takeRest(), as: UTF8.self)
        #expect(bench.upstream.requests.count == 1)
      }
      return text.value
    }

    @Test("The links of early hints pass at once, in front of the response")
    func passes() async throws {
      let text = try await Self.response(Self.hints + Self.final)
      #expect(text.hasPrefix(Self.forwarded + "HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\nok"))
      let twice = try await Self.response(Self.hints + Self.hints + Self.final)
      #expect(twice.hasPrefix(Self.forwarded + Self.forwarded + "HTTP/1.1 200 OK\r\n"))
      // The response is not sent before the client has the hints.
      let script: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send(Self.hints)
        while upstream.notes.isEmpty { try await upstream.pause(peer) }
        try await peer.send(Self.final)
      }
      try await Bench.Setup(upstream: script).run { _, bench in
        let client = try await bench.connect()
        try await client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let interim = try await client.readHead()
        #expect(interim.status == 103)
        bench.upstream.notes = ["seen"]
        #expect(try await client.readResponse().text == "ok")
      }
    }

    @Test(
      "Early hints that must not or need not pass are discarded, and the response passes",
      arguments: [
        ("HTTP/1.1 103 Early Hints\r\n\r\n", "1.1", ""),
        ("HTTP/1.1 103 Early Hints\r\nX: y\r\nSet-Cookie: a=b\r\n\r\n", "1.1", ""),
        (hints, "1.0", ""), (hints, "1.1", "Cookie: __Host-private=x\r\n"),
        ("HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nLink: </forbidden>; rel=preload\r\n\r\n", "1.1", ""),
        ("HTTP/1.1 103 Early Hints\r\nConnection: Link\r\nLink: </a>; rel=preload\r\n\r\n", "1.1", ""),
        (
          "HTTP/1.1 103 Early Hints\r\nLink: </\(String(repeating: "a", count: 5_000))>; rel=preload\r\n\r\n", "1.1", ""
        ),
        ("HTTP/1.1 102 Processing\r\nLink: </a>; rel=preload\r\n\r\n", "1.1", ""),
        ("HTTP/1.1 100 Continue\r\nLink: </a>; rel=preload\r\n\r\n", "1.1", ""),
      ])
    func discarded(_ hints: String, _ version: String, _ fields: String) async throws {
      let text = try await Self.response(hints + Self.final, version: version, fields)
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.hasSuffix("\r\n\r\nok"))
    }

    @Test("Early hints in the response to a request of the gateway itself are discarded")
    func intercepted() async throws {
      let text = try await Self.response(Self.hints + Self.final, "/intercept/relay")
      #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n") && text.contains("\r\nX-Relayed: 1\r\n"))
    }

    @Test("All hints in front of a response have at most 4 KiB together")
    func bounded() async throws {
      let hint = "HTTP/1.1 103 Early Hints\r\nLink: </\(String(repeating: "a", count: 1_000))>; rel=preload\r\n\r\n"
      let text = try await Self.response(String(repeating: hint, count: 10) + Self.final)
      // Each line of 1 KiB.
      #expect(text.hasPrefix(String(repeating: hint, count: 4) + "HTTP/1.1 200 OK\r\n"))
    }

    @Test(
      "A request whose response has begun with early hints is not sent a second time",
      arguments: ["/", "/intercept/relay"])
    func notRepeated(_ target: String) async throws {
      let script: ScriptedUpstream.Script = { upstream, peer in
        _ = try await upstream.read(peer)
        try await peer.send(Self.final)
        _ = try await upstream.read(peer)
        try await peer.send(Self.hints)
      }
      try await Bench.Setup(upstream: script).run { _, bench in
        let client = try await bench.connect()
        for status in [200, 502] {
          try await client.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try await client.readResponse()
          #expect(response.status == status)
        }
        #expect(bench.upstream.requests.count == 2)
      }
    }

    @Test("Early hints pass over HTTP/2 as a field section of their own")
    func http2() async throws {
      try await HTTP2Tests.setup(ScriptedUpstream.answering(Self.hints + Self.final)).run { _, bench in
        let client = try await bench.connectHTTP2()
        try await client.send(.get(1, "/"))
        let response = try await client.answer(1)
        #expect(response.interim == [103] && response.status == 200 && response.text == "ok" && response.isWhole)
        #expect(
          response.hints.map { "\($0.name): \($0.value)" } == [
            ":status: 103", "link: </a.css>; rel=preload; as=style", "link: </b.js>; rel=preload",
          ])
      }
    }
  }
}

/// A text that the body of a test leaves for the caller.
private final class TextBox: Sendable {
  private let text = Mutex("")
  var value: String {
    get { text.withLock { $0 } }
    set { text.withLock { $0 = newValue } }
  }
}
