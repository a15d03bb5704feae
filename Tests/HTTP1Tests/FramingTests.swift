import HTTP1
import Testing

struct RequestFramingTests {
  private func body(_ fields: String) throws -> BodyFraming? {
    try parseRequest("POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")?.head.body
  }

  @Test("A request without framing fields has no body")
  func none() throws {
    #expect(try body("X: y") == BodyFraming.none)
    #expect(try body("Content-Length: 0") == BodyFraming.none)
    #expect(try body("Content-Length: 000") == BodyFraming.none)
  }

  @Test("A length is parsed as decimal digits")
  func length() throws {
    #expect(try body("Content-Length: 42") == .length(42))
    #expect(try body("content-length:\t0042 ") == .length(42))
    #expect(try body("Content-Length: 999999999999999999") == .length(999_999_999_999_999_999))
  }

  @Test(
    "An ambiguous Content-Length is refused (attack class 2)",
    arguments: [
      "Content-Length:", "Content-Length: ", "Content-Length: +1", "Content-Length: -1", "Content-Length: 1 1",
      "Content-Length: 1,1",
      "Content-Length: 1, 1", "Content-Length: 1,2", "Content-Length: 0x1", "Content-Length: 1.0",
      "Content-Length: 1e1", "Content-Length: a",
      "Content-Length: 1a", "Content-Length: 1;", "Content-Length: ,1", "Content-Length: 1\r\nContent-Length: 1",
      "Content-Length: 1\r\nContent-Length: 2", "Content-Length: 0\r\nContent-Length: 0",
      "Content-Length: 1\r\ncontent-length: 1",
      "Content-Length: 1000000000000000000", "Content-Length: 18446744073709551617",
      "Content-Length: 9223372036854775808",
      "Content-Length: \u{661}", "Content_Length: 1", "Content.Length: 1", "Content!Length: 1",
      "content-length_: 1\r\nContent_length: 1",
      "Content-Length: \"1\"",
      "Content-Length: 0000000000000000001",
    ])
  func ambiguousLength(_ field: String) {
    #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n") == 400)
  }

  @Test("The only accepted coding is chunked, in any letter case")
  func chunked() throws {
    #expect(try body("Transfer-Encoding: chunked") == .chunked)
    #expect(try body("transfer-encoding:CHUNKED\t") == .chunked)
  }

  @Test(
    "An obfuscated Transfer-Encoding is refused (attack class 1)",
    arguments: [
      "Transfer-Encoding:", "Transfer-Encoding: identity", "Transfer-Encoding: gzip",
      "Transfer-Encoding: gzip, chunked",
      "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: chunked,",
      "Transfer-Encoding: ,chunked",
      "Transfer-Encoding: xchunked", "Transfer-Encoding: chunkedx", "Transfer-Encoding: chunked;q=1",
      "Transfer-Encoding: \"chunked\"",
      "Transfer-Encoding: chun ked", "Transfer-Encoding: \u{b}chunked", "Transfer-Encoding: chunked\u{0}",
      "Transfer-Encoding: chunk\u{212a}d",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
      "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked", "Transfer_Encoding: chunked",
      "Transfer.Encoding: chunked", "Transfer|Encoding: chunked",
      "transfer-encoding_x: 1\r\nTransfer_encoding: x",
      "Transfer-Encoding : chunked", " Transfer-Encoding: chunked", "Transfer-Encoding\t: chunked",
      "X: y\r\n Transfer-Encoding: chunked",
    ])
  func obfuscatedCoding(_ field: String) {
    #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n") == 400)
  }

  @Test("Both framing fields together are refused, in either order (attack class 1)")
  func conflict() {
    for pair in [
      "Content-Length: 1\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 1",
      "Content-Length: 0\r\nTransfer-Encoding: chunked",
    ] {
      #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\n\(pair)\r\n\r\n") == 400)
    }
  }

  @Test("HTTP/1.0 has no transfer codings (attack class 1)")
  func oldVersion() {
    #expect(refusal("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") == 400)
  }
}

struct ResponseHeadTests {
  private func head(_ text: String, to method: Method = .get) throws -> ResponseHead? {
    try parseResponse("\(text)\r\n\r\n", to: method)?.head
  }

  @Test("A status line has a version, a status and a phrase, which may be empty")
  func statusLine() throws {
    let parsed = try #require(try parseResponse("HTTP/1.1 404 Not  Found\u{e9}\r\nA: b\r\n\r\n"))
    #expect(parsed.head.status == 404)
    #expect(parsed.text(parsed.head.reason) == "Not  Found\u{e9}")
    #expect(try head("HTTP/1.1 200 ")?.reason.isEmpty == true)
    #expect(try head("HTTP/1.1 200")?.reason.isEmpty == true)
    #expect(try head("HTTP/1.0 200 OK")?.minorVersion == 0)
  }

  @Test(
    "A malformed status line is refused (attack class 9)",
    arguments: [
      "", "HTTP", "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 2", "HTTP/1.1 20", "HTTP/1.1 2000 OK", "HTTP/1.1 20x OK",
      "HTTP/1.1  200 OK", "HTTP/1.1\t200 OK",
      "HTTP/1.1 099 OK", "HTTP/1.1 600 OK", "HTTP/1.1 999 OK", "HTTP/1.1 -20 OK", "HTTP/1.1 +20 OK", "HTTP/1.2 200 OK",
      "HTTP/2.0 200 OK",
      "HTTP/2 200 OK", "http/1.1 200 OK", "HTtP/1.1 200 OK", " HTTP/1.1 200 OK", "HTTP/1.1 200 O\u{0}K",
      "HTTP/1.1 200 O\rK", "HTTP/1.1 200 O\u{7f}K",
      "HTTP/1.1 200\tOK", "HTTP/1.1:200 OK", "\r\nHTTP/1.1 200 OK", "HTTP/1.1 200 OK\n", "ICY 200 OK", "220 ready",
      "HTTP/1.1 \u{662}00 OK",
    ])
  func malformed(_ line: String) {
    #expect(isRefused(response: "\(line)\r\nContent-Length: 0\r\n\r\n"))
  }

  @Test("Method, status and fields decide how the body of a response ends")
  func framing() throws {
    #expect(try head("HTTP/1.1 200 OK")?.body == .untilClose)
    #expect(try head("HTTP/1.1 200 OK\r\nContent-Length: 5")?.body == .length(5))
    #expect(try head("HTTP/1.1 200 OK\r\nContent-Length: 0")?.body == BodyFraming.none)
    #expect(try head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")?.body == .chunked)
    #expect(try head("HTTP/1.1 200 OK\r\nContent-Length: 5", to: .head)?.body == BodyFraming.none)
    #expect(try head("HTTP/1.1 200 OK\r\nContent-Length: 5", to: .head)?.announcedLength == 5)
    #expect(try head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", to: .head)?.body == BodyFraming.none)
    #expect(try head("HTTP/1.1 204 No Content")?.body == BodyFraming.none)
    #expect(try head("HTTP/1.1 304 Not Modified\r\nContent-Length: 5")?.body == BodyFraming.none)
    #expect(try head("HTTP/1.1 100 Continue")?.body == BodyFraming.none)
    #expect(try head("HTTP/1.1 101 Switching Protocols")?.body == BodyFraming.none)
  }

  @Test(
    "Conflicting or malformed framing of a response is refused (attack class 9)",
    arguments: [
      "Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 5",
      "Content-Length: 5, 5", "Content-Length: -5",
      "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: identity",
      "Content_Length: 5", "Connection: content-length\r\nContent-Length: 5", "X : y", " X: y", "X: y\r\n folded",
      "X: \u{0}", "X",
    ])
  func conflicts(_ fields: String) {
    #expect(isRefused(response: "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n"))
  }

  @Test("A coding in an HTTP/1.0 response is refused")
  func oldCoding() {
    #expect(isRefused(response: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"))
  }

  @Test("An interim response that announces a body is refused")
  func interimBody() {
    #expect(isRefused(response: "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n"))
    #expect(isRefused(response: "HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n"))
    #expect(!isRefused(response: "HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n"))
  }

  @Test("Framing, version and options decide whether the upstream's connection can be used again")
  func persistence() throws {
    #expect(try head("HTTP/1.1 200 OK\r\nContent-Length: 5")?.keepsAlive == true)
    #expect(try head("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close")?.keepsAlive == false)
    #expect(try head("HTTP/1.1 200 OK")?.keepsAlive == false)
    #expect(try head("HTTP/1.0 200 OK\r\nContent-Length: 5")?.keepsAlive == false)
    #expect(try head("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive")?.keepsAlive == true)
    #expect(try head("HTTP/1.1 200 OK\r\nContent-Length: 0")?.keepsAlive == true)
  }

  @Test("After a response that has no body by definition, the connection is not used again: some servers send one")
  func strayBodies() throws {
    for fields in ["", "\r\nContent-Length: 0", "\r\nContent-Length: 5", "\r\nTransfer-Encoding: chunked"] {
      #expect(try head("HTTP/1.1 204 No Content\(fields)")?.keepsAlive == false)
      #expect(try head("HTTP/1.1 304 Not Modified\(fields)")?.keepsAlive == false)
      #expect(try head("HTTP/1.1 200 OK\(fields)", to: .head)?.keepsAlive == false)
    }
  }
}
