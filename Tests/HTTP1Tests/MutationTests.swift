import DiceTestSupport
import HTTP1
import Testing

/// A failed bounds check ends the process, so a test here passes if it runs to its end.
struct MutationTests {
  private static let requests = [
    "GET /authorize?client_id=a&state=%20b HTTP/1.1\r\nHost: id.example.com\r\nCookie: a=b; c=d\r\nConnection: keep-alive, X-A\r\nX-A: b\r\n\r\n",
    "POST http://h:80/token HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n",
    "POST /t HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    "\r\nOPTIONS * HTTP/1.0\r\n\r\n",
  ]
  private static let responses = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nSet-Cookie: a=b; Path=/\r\nConnection: close\r\n\r\n",
    "HTTP/1.0 302 Found\r\nLocation: http://a/\r\n\r\n",
    "HTTP/1.1 101\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
  ]
  private static let interesting = Array("\r\n \t:,;/?#@[]%_\u{0}\u{7f}HC0159hx".utf8) + [0x80, 0xff]

  private static func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
      let position = Int.random(in: 0..<bytes.count, using: &random)
      let byte = interesting.randomElement(using: &random) ?? 0
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[position] = byte
      case 1: bytes.insert(byte, at: position)
      case 2: bytes.remove(at: position)
      case 3: bytes.removeSubrange(position..<min(bytes.count, position + Int.random(in: 1...20, using: &random)))
      case 4:
        let end = min(bytes.count, position + Int.random(in: 1...20, using: &random))
        bytes.insert(contentsOf: Array(bytes[position..<end]), at: Int.random(in: 0...bytes.count, using: &random))
      default: bytes = Array(bytes[..<position]) + Array("\r\n\r\n".utf8)
      }
    }
    return bytes
  }

  @Test("A mutated request head never crashes the parser, and accepted ranges lie within the head")
  func requestMutations() {
    var random = SeededGenerator(seed: 1)
    let index = HeadIndex()
    for round in 0..<20_000 {
      let bytes = MutationTests.mutate(
        Array(MutationTests.requests[round % MutationTests.requests.count].utf8), &random)
      guard let parsed = try? parseRequest(bytes, into: index) else { continue }
      let head = parsed.head
      let ranges = [head.methodRange, head.target, head.path, head.query, head.host, head.upgrade].compactMap { $0 }
      let isInside = head.length <= bytes.count && ranges.allSatisfy { $0.upperBound <= head.length }
      // An accepted head has one reading: no control character anywhere and no line end inside a value.
      let isClean = parsed.index.allSatisfy { field in
        field.value.upperBound <= head.length - 2
          && !bytes[field.value].contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }
      }
      if !isInside || !isClean { Issue.record("round \(round): \(bytes)") }
    }
  }

  @Test("A mutated response head never crashes the parser")
  func responseMutations() {
    var random = SeededGenerator(seed: 2)
    let index = HeadIndex()
    for round in 0..<20_000 {
      let bytes = MutationTests.mutate(
        Array(MutationTests.responses[round % MutationTests.responses.count].utf8), &random)
      guard let parsed = try? parseResponse(bytes, into: index) else { continue }
      if parsed.head.length > bytes.count || parsed.head.reason.upperBound > parsed.head.length {
        Issue.record("round \(round): \(bytes)")
      }
    }
  }

  @Test("Random bytes never crash a parser or the decoder")
  func noise() {
    var random = SeededGenerator(seed: 3)
    let index = HeadIndex()
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
        MutationTests.interesting.randomElement(using: &random) ?? 0
      }
      _ = try? parseRequest(bytes + Array("\r\n\r\n".utf8), into: index)
      _ = try? parseResponse(Array("HTTP/1.1 200".utf8) + bytes + Array("\r\n\r\n".utf8), into: index)
      var decoder = BodyDecoder(.chunked)
      var position = 0
      while position < bytes.count, let piece = try? decoder.decode(bytes.span.extracting(position..<bytes.count)) {
        if piece.consumed == 0 { break }
        if piece.data.upperBound > piece.consumed { Issue.record("\(bytes)") }
        position += piece.consumed
      }
    }
  }

  @Test("Every prefix of a valid head with an empty line after it is accepted or refused")
  func prefixes() {
    let index = HeadIndex()
    for request in MutationTests.requests {
      let bytes = Array(request.utf8)
      for count in 0...bytes.count {
        _ = try? parseRequest(Array(bytes[..<count]) + Array("\r\n\r\n".utf8), into: index)
        _ = try? parseResponse(Array(bytes[..<count]) + Array("\r\n\r\n".utf8), into: index)
      }
    }
    for response in MutationTests.responses {
      let bytes = Array(response.utf8)
      for count in 0...bytes.count {
        _ = try? parseResponse(Array(bytes[..<count]) + Array("\r\n\r\n".utf8), into: index)
      }
    }
  }
}
