import GatewayTestSupport
import HTTP
import LegacyServer
import OAuth
import Policy
import Testing

/// RFC 9110 and RFC 9112 where they prevent requests from bypassing the checks. Requests are sent as raw bytes.
@Suite("HTTP")
struct HTTPTests {
  /// Sends the text of a request and returns all bytes that the gateway sends until the connection ends.
  static func raw(_ gateway: GatewayFixture, _ text: String) async throws -> String {
    String(decoding: try await ClientLoop.sendRaw(Array(text.utf8), toPort: gateway.port), as: UTF8.self)
  }

  static func status(_ answer: String) -> Int? {
    answer.hasPrefix("HTTP/1.1 ") ? Int(answer.dropFirst(9).prefix(3)) : nil
  }

  /// Expects that the request is refused and its connection ends, without a request upstream.
  static func expectBroken(
    _ gateway: GatewayFixture, _ text: String, status expected: Int = 400,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let before = gateway.upstream.recorder.count
    // A second request shows whether the connection continues.
    let answer = try await raw(gateway, text + probe)
    #expect(status(answer) == expected, "\(answer)", sourceLocation: sourceLocation)
    #expect(
      answer.components(of: "HTTP/1.1 ") == 1, "the connection went on: \(answer)", sourceLocation: sourceLocation)
    #expect(gateway.upstream.recorder.count == before, "the upstream was contacted", sourceLocation: sourceLocation)
  }

  static let common = "Host: gw.example\r\nX-Forwarded-Proto: https\r\n"
  static let probe = "GET /probe HTTP/1.1\r\n\(common)Connection: close\r\n\r\n"

  static let page = RawUpstream.Answer.bytes(
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
  static let tokens = RawUpstream.Answer.bytes(
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 43\r\nConnection: close\r\n\r\n"
      + #"{"access_token":"abcd","token_type":"abcd"}"#)

  // MARK: Framing

  @Test(
    "9112-3.2-host: a missing, repeated or malformed Host is refused",
    arguments: [
      "", "Host: gw.example\r\nHost: gw.example\r\n", "Host: gw example\r\n", "Host: a,b\r\n", "Host: gw.example/x\r\n",
    ])
  func host(fields: String) async throws {
    try await GatewayFixture.run { gateway in
      try await Self.expectBroken(gateway, "GET / HTTP/1.1\r\nX-Forwarded-Proto: https\r\n\(fields)\r\n")
    }
  }

  @Test("9112-3.2.2-absolute: the host of an absolute target applies, and the upstream gets that of the policy")
  func absolute() async throws {
    try await GatewayFixture.run { gateway in
      let target = "https://gw.example" + gateway.authorizationTarget("p1")
      let answer = try await Self.raw(
        gateway, "GET \(target) HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\r\n"
      )
      #expect(Self.status(answer) == 302, "\(answer)")
      let seen = try #require(gateway.upstream.recorder.requests.first)
      #expect(seen.headers.all("Host") == ["gw.example"])
      #expect(seen.target.hasPrefix("/authorize?"))
      let other = try await Self.raw(
        gateway, "GET https://evil.example/ HTTP/1.1\r\nHost: gw.example\r\nConnection: close\r\n\r\n")
      #expect(Self.status(other) == 421, "\(other)")
    }
  }

  @Test("9110-7.4-misdirected: other hosts are refused and do not appear in the response")
  func misdirected() async throws {
    try await GatewayFixture.run { gateway in
      let response = try await gateway.expectRefused(
        get: gateway.authorizationTarget(), ["Host": "evil.example"], status: 421)
      #expect(!response.text.contains("evil.example"))
      try await gateway.expectRefused(
        get: gateway.authorizationTarget(), ["X-Forwarded-Host": "evil.example"], status: 421)
    }
  }

  @Test("9112-6.3-te-cl: a request with both Transfer-Encoding and Content-Length is refused")
  func both() async throws {
    try await GatewayFixture.run { gateway in
      try await Self.expectBroken(
        gateway,
        "POST /login HTTP/1.1\r\n\(Self.common)Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    }
  }

  @Test(
    "9112-6.3-te-final: only the exact coding `chunked` is accepted",
    arguments: [
      "Transfer-Encoding: chunked, identity", "Transfer-Encoding: xchunked", "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: \u{b}chunked",
      "Transfer-Encoding : chunked", "Transfer-Encoding: chunked,", "Transfer-Encoding: \"chunked\"",
    ])
  func transferEncoding(field: String) async throws {
    try await GatewayFixture.run { gateway in
      try await Self.expectBroken(gateway, "POST /login HTTP/1.1\r\n\(Self.common)\(field)\r\n\r\n0\r\n\r\n")
    }
  }

  @Test("9112-6.3-te-final: Transfer-Encoding in HTTP/1.0 is refused")
  func oldVersion() async throws {
    try await GatewayFixture.run { gateway in
      try await Self.expectBroken(
        gateway, "POST /login HTTP/1.0\r\n\(Self.common)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
    }
  }

  @Test(
    "9112-6.3-content-length: only one length in decimal digits is accepted",
    arguments: [
      "Content-Length: 5\r\nContent-Length: 6", "Content-Length: +5", "Content-Length: 0x5", "Content-Length: -1",
      "Content-Length: 5 5", "Content-Length: 99999999999999999999", "Content-Length:", "Content-Length: 5,6",
    ])
  func contentLength(field: String) async throws {
    try await GatewayFixture.run { gateway in
      try await Self.expectBroken(gateway, "POST /login HTTP/1.1\r\n\(Self.common)\(field)\r\n\r\nhello")
    }
  }

  @Test(
    "9112-5.1-field-syntax, 9110-5.5-ctl: a field that two readers could parse differently is refused",
    arguments: [
      "Content-Length : 5", "X-A: 1\r\n folded", ": empty", " X-A: leading", "X-A: a\rb", "X-A: a\u{0}b", "X A: 1",
      "X-A\t: 1", "X(A): 1",
    ])
  func fieldSyntax(field: String) async throws {
    try await GatewayFixture.run { gateway in
      try await Self.expectBroken(gateway, "GET /login HTTP/1.1\r\n\(Self.common)\(field)\r\n\r\n")
    }
  }

  @Test(
    "9112-7.1-chunked: malformed chunk sizes are refused",
    arguments: ["FFFFFFFFFFFFFFFFF", "0x10", "-1", " 5", "5 ", "", "5;\u{0}", "g"])
  func chunkSizes(size: String) async throws {
    try await GatewayFixture.run { gateway in
      let answer = try await Self.raw(
        gateway,
        "POST /token HTTP/1.1\r\n\(Self.common)Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n\(size)\r\nhello\r\n0\r\n\r\n"
          + Self.probe)
      #expect(Self.status(answer) == 400, "\(answer)")
      #expect(answer.components(of: "HTTP/1.1 ") == 1, "\(answer)")
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("9112-7.1-chunked: a token request with too long a body gets 413, with and without a Content-Length")
  func tooLong() async throws {
    let body = String(repeating: "a", count: 2 << 20)
    try await GatewayFixture.run { gateway in
      for framing in [
        "Content-Length: \(body.utf8.count)\r\n\r\n\(body)",
        "Transfer-Encoding: chunked\r\n\r\n200000\r\n\(body)\r\n0\r\n\r\n",
      ] {
        let answer = try await Self.raw(
          gateway,
          "POST /token HTTP/1.1\r\n\(Self.common)Content-Type: application/x-www-form-urlencoded\r\n\(framing)")
        #expect(Self.status(answer) == 413, "\(answer.prefix(200))")
      }
      #expect(gateway.upstream.recorder.count == 0)
    }
  }

  @Test("9112-7.1-chunked: a chunked token request is read and goes upstream with a Content-Length")
  func chunked() async throws {
    try await GatewayFixture.run { outer in
      let raw = try await RawUpstream(Self.tokens)
      try await outer.withReplica(upstream: .raw(raw)) { gateway in
        let body = gateway.tokenForm(try await outer.code()).encoded
        let size = String(body.utf8.count, radix: 16)
        let answer = try await Self.raw(
          gateway,
          "POST /token HTTP/1.1\r\n\(Self.common)Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\(size);ext=1\r\n\(body)\r\n0\r\nAuthorization: Basic dzE6dzFzZWNyZXQ=\r\n\r\n"
        )
        #expect(Self.status(answer) == 200, "\(answer)")
        let seen = try #require(raw.requests.first).lowercased()
        #expect(seen.contains("\r\ncontent-length: "))
        #expect(!seen.contains("transfer-encoding"))
      }
      await raw.stop()
    }
  }

  @Test("9110-6.5.1-trailers: credentials in a trailer are ignored, and a trailer that is forwarded stays one")
  func trailers() async throws {
    try await GatewayFixture.run { gateway in
      let body = gateway.tokenForm(try await gateway.code("w1"), "w1").without("client_id").encoded
      let before = gateway.upstream.recorder.count
      let answer = try await Self.raw(
        gateway,
        "POST /token HTTP/1.1\r\n\(Self.common)Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\nAuthorization: Basic dzE6dzFzZWNyZXQ=\r\n\r\n"
      )
      #expect(answer.contains("invalid_client"), "\(answer)")
      #expect(gateway.upstream.recorder.count == before)
    }
    for forwards in [false, true] {
      let policy = try FixturePolicy.with { $0.upstream.forwardsTrailers = forwards }
      try await GatewayFixture.run(before: Self.page, policy) { gateway, raw in
        let answer = try await Self.raw(
          gateway,
          "POST /upload HTTP/1.1\r\n\(Self.common)Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nAuthorization: Basic dzE6dzFzZWNyZXQ=\r\nX-Sum: 1\r\n\r\n"
        )
        #expect(Self.status(answer) == 200, "\(answer)")
        let seen = try #require(raw.requests.first)
        #expect(seen.hasSuffix(forwards ? "\r\n0\r\nX-Sum: 1\r\n\r\n" : "\r\n\r\nhello"), "\(seen)")
        #expect(!seen.contains("Authorization"))
      }
    }
  }

  @Test("9110-9.3-methods: CONNECT and TRACE are refused", arguments: ["CONNECT legacy.internal:443", "TRACE /"])
  func methods(line: String) async throws {
    try await GatewayFixture.run { gateway in
      let answer = try await Self.raw(
        gateway, "\(line) HTTP/1.1\r\n\(Self.common)Connection: close\r\n\r\n")
      #expect(Self.status(answer) == 405, "\(answer)")
      #expect(answer.lowercased().contains("\r\nallow: "))
      #expect(gateway.upstream.recorder.count == 0)
      if line.hasPrefix("CONNECT") {
        try await Self.expectBroken(gateway, "\(line) HTTP/1.1\r\n\(Self.common)\r\n", status: 405)
      }
    }
  }
}

extension String {
  fileprivate func components(of text: String) -> Int {
    var count = 0
    var rest = self[...]
    while let range = rest.firstRange(of: text) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}
