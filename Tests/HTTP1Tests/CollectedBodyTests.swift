import HTTP1
import Testing

struct CollectedBodyTests {
  /// Returns the data if the body is complete, or the status of the refusal.
  private static func collect(_ input: [UInt8], pieces size: Int = 16_384) -> (data: Int?, status: Int?, calls: Int) {
    var body = CollectedBody(.chunked)
    var position = 0
    var calls = 0
    do throws(MessageError) {
      while position < input.count, !body.isFinished {
        calls += 1
        position += try body.decode(input.span.extracting(position..<min(position + size, input.count)))
      }
    } catch {
      return (nil, error.status, calls)
    }
    return (body.isFinished ? body.data.count : nil, nil, calls)
  }

  private static func body(_ chunk: String, _ count: Int) -> [UInt8] {
    Array((String(repeating: chunk, count: count) + "0\r\n\r\n").utf8)
  }

  @Test("Everything that has arrived is decoded at once, and the bytes after the body are not read")
  func once() throws {
    var body = CollectedBody(.chunked)
    let input = Array("3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: u\r\n\r\nGET".utf8)
    let consumed = try body.decode(input.span)
    #expect(consumed == input.count - 3 && body.isFinished && body.data == Array("abcde".utf8))
    let many = CollectedBodyTests.collect(CollectedBodyTests.body("1\r\nx\r\n", 10_000))
    #expect(many.data == 10_000 && many.calls == 4)
    var plain = CollectedBody(.length(3))
    let taken = try plain.decode(Array("abcd".utf8).span)
    #expect(taken == 3 && plain.data == Array("abc".utf8) && plain.isFinished)
  }

  @Test("A body in pieces of any size has the same data as with the decoder of pieces")
  func pieces() throws {
    let input = Array("3\r\nabc\r\n00A;q=\"r\"\r\n0123456789\r\n1\r\nz\r\n0\r\nT: u\r\n\r\n".utf8)
    for size in 1...input.count {
      #expect(CollectedBodyTests.collect(input, pieces: size).data == 14)
    }
  }

  @Test(
    "A short body may have any framing, and a long one at most a quarter more than that (attack class 3)",
    arguments: [
      ("1\r\nx\r\n", 13_000, true), ("1\r\nx\r\n", 20_000, false), ("000000000000001\r\nx\r\n", 3_000, true),
      ("000000000000001\r\nx\r\n", 4_000, false), ("1;a\r\nx\r\n", 2_000, true), ("1;a\r\nx\r\n", 20_000, false),
      ("14\r\n\(String(repeating: "x", count: 20))\r\n", 100_000, false),
      ("18\r\n\(String(repeating: "x", count: 24))\r\n", 100_000, true),
    ])
  func framing(_ chunk: String, _ count: Int, isAccepted: Bool) {
    let found = CollectedBodyTests.collect(CollectedBodyTests.body(chunk, count))
    #expect((found.data != nil) == isAccepted)
    #expect(found.status == (isAccepted ? nil : 413))
  }
}
