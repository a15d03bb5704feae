import HTTP2TestSupport
import Reactor
import Testing

extension ProxyTests {
  /// The tasks and objects of an HTTP/2 connection's streams are reused for its later streams.
  struct StreamReuseTests {
    /// The parts of a response that may differ between two responses to one request, without the date.
    private static func told(_ answer: FrameClient.Answer) -> [String] {
      [answer.text, "\(answer.isWhole)"] + answer.fields.filter { $0.name != "date" }.map { "\($0.name): \($0.value)" }
    }

    @Test("Whatever the end of earlier streams, the next stream of the connection is served like the first")
    func nothingIsLeft() async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let other = try await bench.connectHTTP2()
        try await other.send(.get(1, "/last"))
        let expected = Self.told(try await other.answer(1))

        let client = try await bench.connectHTTP2()
        try await client.send(.get(1, "/first", [("cookie", "a=secret"), ("authorization", "secret")]))
        #expect(try await client.answer(1).text == "/first")
        // The client resets the stream within the request's body.
        try await client.send(
          .headers(3, Frame.request("POST", "/upload"), endsStream: false), .data(3, "secret"), .reset(3))
        // Refused before it is read.
        try await client.send(.get(5, "/", (0..<110).map { ("x-\($0)", "secret") }))
        #expect(try await client.answer(5).status == 431)
        try await client.send(.get(7, "/malformed", [("connection", "secret")]))
        #expect(try await client.answer(7).reset == 1)
        try await client.send(.headers(9, Frame.request("HEAD", "/head"), endsStream: true))
        #expect(try await client.answer(9).text == "")
        // A body without an announced length.
        try await client.send(
          .headers(11, Frame.request("POST", "/chunked"), endsStream: false), .data(11, "secret"),
          .data(11, "", endsStream: true))
        #expect(try await client.answer(11).text == "/chunked")

        for id in stride(from: 13, to: 40, by: 2) {
          try await client.send(.get(id, "/last"))
          #expect(Self.told(try await client.answer(id)) == expected)
        }
        let heads = bench.upstream.requests.filter { $0.target == "/last" }.map(\.head)
        #expect(heads.count == 15)
        #expect(Set(heads).count == 1)
      }
    }

    @Test("More concurrent streams than the connection keeps for reuse are all served, several times")
    func many() async throws {
      try await HTTP2Tests.setup().run { _, bench in
        let client = try await bench.connectHTTP2()
        for round in 0..<3 {
          let ids = (0..<40).map { 1 + 2 * (round * 40 + $0) }
          for id in ids { try await client.send(.get(id, "/\(id)")) }
          let answers = try await client.answers(ids)
          for id in ids { #expect(answers[id]?.text == "/\(id)" && answers[id]?.isWhole == true) }
        }
      }
    }
  }
}
