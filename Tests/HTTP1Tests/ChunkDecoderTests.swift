import HTTP1
import Testing

struct ChunkDecoderTests {
  private enum Outcome: Equatable {
    case finished([UInt8], consumed: Int)
    case unfinished([UInt8])
    case refused(Int)
  }

  /// Decodes input that becomes available in pieces of these sizes; the last size is repeated.
  private static func decode(_ input: [UInt8], cuts: [Int]) -> Outcome {
    var decoder = BodyDecoder(.chunked)
    var body: [UInt8] = []
    var position = 0
    do throws(MessageError) {
      for cut in cuts + [input.count] {
        while position < cut {
          let piece = try decoder.decode(input.span.extracting(position..<cut))
          body += input[(position + piece.data.lowerBound)..<(position + piece.data.upperBound)]
          position += piece.consumed
          if decoder.isFinished { return .finished(body, consumed: position) }
          if piece.consumed == 0 { break }
        }
      }
    } catch {
      return .refused(error.status)
    }
    return .unfinished(body)
  }

  private static func decode(_ text: String) -> Outcome { decode(Array(text.utf8), cuts: []) }

  @Test("Chunks are joined, and the bytes after the body are not read")
  func simple() {
    #expect(
      ChunkDecoderTests.decode("3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\nGET")
        == .finished(Array("abc0123456789".utf8), consumed: 28))
    #expect(ChunkDecoderTests.decode("0\r\n\r\n") == .finished([], consumed: 5))
    #expect(ChunkDecoderTests.decode("00\r\n\r\n") == .finished([], consumed: 6))
    #expect(
      ChunkDecoderTests.decode("000000000000003\r\nabc\r\n0\r\n\r\n") == .finished(Array("abc".utf8), consumed: 27))
  }

  @Test("Extensions and trailers are dropped")
  func dropped() {
    #expect(
      ChunkDecoderTests.decode("3;a=b;c=\"d;e\"\r\nabc\r\n0;x\r\nX: y\r\nContent-Length: 7\r\n\r\n")
        == .finished(Array("abc".utf8), consumed: 52))
  }

  @Test(
    "A quoted string in an extension ends in the same line",
    arguments: [
      ("3;a=\"b\"\r\nabc\r\n0\r\n\r\n", true), ("3;a=\"\\\"\"\r\nabc\r\n0\r\n\r\n", true),
      ("3;a=\";\";b\r\nabc\r\n0\r\n\r\n", true), ("3;a=\"\r\nabc\r\n0\r\n\r\n", false),
      ("3;a=\"b\\\"\r\nabc\r\n0\r\n\r\n", false), ("3;a=\"b\\\r\nabc\r\n0\r\n\r\n", false),
      ("3;\"\r\n\"abc\r\n0\r\n\r\n", false), ("0;a=\"b\"\"\r\n\r\n", false),
    ])
  func quoted(_ text: String, isAccepted: Bool) {
    #expect((ChunkDecoderTests.decode(text) != .refused(400)) == isAccepted)
  }

  @Test(
    "Every split gives the same result",
    arguments: [
      "3;a=\"b\\\"c\"\r\nabc\r\n0\r\n\r\n", "3;a=\"b\r\nabc\r\n0\r\n\r\n",
      "3\r\nabc\r\n5;x=\"y\"\r\nhello\r\n0\r\nT: u\r\n\r\nrest", "0\r\n\r\n", "4\r\nab\r\n\r\n0\r\n\r\n",
      "3\r\nabcd\r\n0\r\n\r\n", "g\r\n", "1\r\na\r\n0\r\nx\r\n",
    ])
  func splits(_ text: String) {
    let input = Array(text.utf8)
    let whole = ChunkDecoderTests.decode(input, cuts: [])
    for first in 0...input.count {
      #expect(ChunkDecoderTests.decode(input, cuts: [first]) == whole)
      let isSame = (first...input.count).allSatisfy { ChunkDecoderTests.decode(input, cuts: [first, $0]) == whole }
      #expect(isSame)
    }
    #expect(ChunkDecoderTests.decode(input, cuts: Array(0...input.count)) == whole)
  }

  @Test(
    "Malformed framing is refused (attack class 3)",
    arguments: [
      "\r\n", ";\r\n", " 3\r\nabc", "3 \r\nabc", "+3\r\nabc", "-3\r\nabc", "0x3\r\nabc", "3\nabc", "3\rabc", "3\r\rabc",
      "3;x\nabc", "3;x\u{0}\r\nabc", "3;x\rabc",
      "3;\u{7f}\r\n", "3\r\nabc0\r\n", "3\r\nabc\n0\r\n\r\n", "3\r\nabc\r0\r\n", "3\r\nabcd\r\n", "0\r\n\n", "0\r\n\rx",
      "0\n\n", "0\r\nX\r\n\r\n", "0\r\n: y\r\n\r\n",
      "0\r\n X: y\r\n\r\n", "0\r\nX : y\r\n\r\n", "0\r\nX: y\n\r\n", "0\r\nX: \u{0}\r\n\r\n", "0\r\nX: y\rz\r\n\r\n",
      "3,\r\nabc", "3 ;x\r\nabc", "\u{663}\r\nabc",
      "1000000000000000\r\n", "ffffffffffffffff\r\n", "10000000000000000000000000000003\r\n", "0000000000000003\r\n",
    ])
  func malformed(_ text: String) {
    #expect(ChunkDecoderTests.decode(text) == .refused(400))
  }

  @Test("The largest chunk size does not overflow")
  func largest() {
    #expect(ChunkDecoderTests.decode("fffffffffffffff\r\nabc") == .unfinished(Array("abc".utf8)))
    #expect(ChunkDecoderTests.decode("FFFFFFFFFFFFFFF\r\nabc") == .unfinished(Array("abc".utf8)))
  }

  @Test("Extensions and trailers are limited over a whole body (attack class 3)")
  func bounds() {
    let long = String(repeating: "x", count: 5000)
    #expect(ChunkDecoderTests.decode("1;\(long)\r\na\r\n0\r\n\r\n") == .refused(413))
    let many = String(repeating: "1;\(String(repeating: "x", count: 100))\r\na\r\n", count: 50)
    #expect(ChunkDecoderTests.decode("\(many)0\r\n\r\n") == .refused(413))
    #expect(ChunkDecoderTests.decode("0\r\nX: \(String(repeating: "y", count: 9000))\r\n\r\n") == .refused(413))
    #expect(ChunkDecoderTests.decode("0\r\n" + String(repeating: "Xyz: y\r\n", count: 2000) + "\r\n") == .refused(413))
  }

  @Test("The end of the connection completes only a body without other framing")
  func close() throws {
    for (framing, isProper) in [(BodyFraming.chunked, false), (.length(3), false), (.untilClose, true), (.none, true)] {
      var decoder = BodyDecoder(framing)
      let ends = decoder.endsCompletely()
      #expect(ends == isProper)
      #expect(decoder.isFinished == isProper)
    }
  }

  @Test("A body with a length takes exactly that many bytes")
  func length() throws {
    var decoder = BodyDecoder(.length(4))
    let first = try decoder.decode([1, 2, 3].span)
    #expect(first.consumed == 3 && first.data == 0..<3)
    #expect(decoder.remaining == 1)
    let second = try decoder.decode([4, 5].span)
    #expect(second.consumed == 1 && second.data == 0..<1)
    #expect(decoder.isFinished)
    let third = try decoder.decode([5].span)
    #expect(third.consumed == 0 && third.data.isEmpty)
  }
}
