import DiceTestSupport
import HTTP1
import Testing

struct HeadScannerTests {
  private static let heads = [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nrest",
    "\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r", "GET\r\r\n\r\n", "a\r\nb\nc\r\n\r\n", "a\n\r\n", "\n", "\r\n", "",
    "a\r\n\n", "a\r\n\r\r\n\r\n",
  ]

  private enum Outcome: Equatable {
    case incomplete
    case end(Int)
    case refused
  }

  private static func scan(_ bytes: [UInt8], step: Int) -> Outcome {
    var scanner = HeadScanner()
    var shown = 0
    repeat {
      shown = min(bytes.count, shown + step)
      do throws(MessageError) {
        if let end = try scanner.end(of: bytes.span.extracting(0..<shown)) { return .end(end) }
      } catch {
        return .refused
      }
    } while shown < bytes.count
    return .incomplete
  }

  @Test("A head ends at the same byte, whether its bytes arrive one by one or together", arguments: heads)
  func splits(_ head: String) {
    let bytes = Array(head.utf8)
    let whole = HeadScannerTests.scan(bytes, step: max(1, bytes.count))
    for step in 1...max(1, bytes.count) { #expect(HeadScannerTests.scan(bytes, step: step) == whole) }
  }

  @Test("The end of a head is the first empty line")
  func end() {
    let bytes = Array("GET / HTTP/1.1\r\n\r\nGET".utf8)
    #expect(HeadScannerTests.scan(bytes, step: bytes.count) == .end(18))
  }

  @Test("The result for random bytes does not depend on how they arrive")
  func randomSplits() {
    var random = SeededGenerator(seed: 7)
    let alphabet = Array("\r\n\r\nab:".utf8)
    for _ in 0..<2000 {
      let bytes = (0..<Int.random(in: 1...40, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
      let whole = HeadScannerTests.scan(bytes, step: bytes.count)
      let isSame = [1, 3].allSatisfy { HeadScannerTests.scan(bytes, step: $0) == whole }
      if !isSame { Issue.record("\(bytes)") }
    }
  }
}
