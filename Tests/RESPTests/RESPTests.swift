import RESP
import Testing

@Suite("Replies and commands of Redis")
struct RESPTests {
  private func read(_ text: String, in pieces: Int = 1) throws -> [RESPReply] {
    let reader = RESPReader()
    let bytes = Array(text.utf8)
    var replies: [RESPReply] = []
    for start in stride(from: 0, to: bytes.count, by: (bytes.count + pieces - 1) / pieces) {
      let end = min(bytes.count, start + (bytes.count + pieces - 1) / pieces)
      try reader.feed(bytes[start..<end].span)
      while let reply = try reader.next() { replies.append(reply) }
    }
    return replies
  }

  private static let all =
    "+OK\r\n$3\r\na\0b\r\n$0\r\n\r\n:-7\r\n$-1\r\n*-1\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n-NOAUTH no\r\n"

  @Test("Replies of every type are read, however they are divided", arguments: [1, 3, 200])
  func types(pieces: Int) throws {
    let replies = try read(RESPTests.all, in: pieces)
    #expect(
      replies == [
        .status("OK"), .bytes([0x61, 0, 0x62]), .bytes([]), .integer(-7), .null, .null,
        .array([.bytes([0x78]), .array([.integer(1)])]), .error("NOAUTH no"),
      ])
  }

  @Test(
    "Bytes that are not a reply are an error", arguments: ["HTTP/1.1 400 Bad Request\r\n", "*99999999\r\n", "$-7\r\n"])
  func malformed(text: String) {
    #expect(throws: RESPError.self) { try read(text) }
  }

  @Test("An array that announces more than 8,192 elements is an error")
  func largeArray() {
    #expect(throws: RESPError.self) { try read("*8193\r\n") }
    #expect(throws: Never.self) { try read("*8192\r\n") }
  }

  @Test("A reply that is too long is an error before it is complete")
  func longReply() throws {
    let reader = RESPReader()
    try reader.feed(Array("$100000000\r\n".utf8).span)
    let block = [UInt8](repeating: 0x61, count: 1 << 16)
    #expect(throws: RESPError.self) {
      for _ in 0..<17 {
        try reader.feed(block.span)
        #expect(try reader.next() == nil)
      }
    }
  }

  @Test(
    "An array that is too long is an error before it is complete, however short its elements are",
    arguments: [0, 100, 1_000, 16_384, 200_000])
  func longArray(length: Int) throws {
    let reader = RESPReader()
    let element = "$\(length)\r\n" + String(repeating: "x", count: length) + "\r\n"
    // A complete reply does not count for the next one.
    try reader.feed(Array("$200000\r\n\(String(repeating: "x", count: 200_000))\r\n*8192\r\n".utf8).span)
    #expect(try reader.next() != nil)
    // hiredis reads arrays within arrays.
    var received = 0
    #expect(throws: RESPError.self) {
      while received < 3 << 20 {
        let text = (received > 0 && received % 7 == 0 ? "*1\r\n" : "*8192\r\n") + element
        let piece = Array((received == 0 ? "*8192\r\n" : text).utf8)
        try reader.feed(piece.span)
        #expect(try reader.next() == nil)
        received += piece.count
      }
    }
    #expect(received <= 1 << 20)
  }

  @Test("A command contains its words byte for byte")
  func command() {
    var output = Array("before".utf8)
    RESPCommand.append([Array("SET".utf8), [], [0, 0x0d, 0x0a]], to: &output)
    #expect(String(decoding: output, as: UTF8.self) == "before*3\r\n$3\r\nSET\r\n$0\r\n\r\n$3\r\n\0\r\n\r\n")
  }

  @Test("The length of a word is decimal", arguments: [1, 9, 10, 11, 99, 100, 101, 999, 1_000, 16_384, 1_000_000])
  func wordLength(length: Int) {
    var output: [UInt8] = []
    RESPCommand.append([[UInt8](repeating: 0x61, count: length)], to: &output)
    #expect(output == Array("*1\r\n$\(length)\r\n".utf8) + [UInt8](repeating: 0x61, count: length) + [0x0d, 0x0a])
  }

  @Test("The number of words is decimal")
  func wordCount() {
    var output: [UInt8] = []
    RESPCommand.append([[UInt8]](repeating: [], count: 12), to: &output)
    #expect(String(decoding: output, as: UTF8.self) == "*12\r\n" + String(repeating: "$0\r\n\r\n", count: 12))
  }
}
