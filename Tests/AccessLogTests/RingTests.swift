import Reactor
import Testing

/// The ring between a worker and the writer.
@Suite("A ring of bytes")
struct RingTests {
  @Test("Bytes come out in their order, also around the end of the block, and a line that does not fit is not cut")
  func order() {
    let ring = ByteRing(capacity: 16)
    var expected: [UInt8] = []
    var taken: [UInt8] = []
    var next: UInt8 = 0
    for round in 0..<200 {
      let line = (0..<(round % 7)).map { _ in
        next &+= 1
        return next
      }
      let before = ring.count
      if let waiting = ring.append(line.span) {
        #expect(waiting == before + line.count && ring.count == waiting)
        expected += line
      } else {
        #expect(before + line.count > 16 && ring.count == before)
      }
      if round % 3 == 0 { ring.take(into: &taken) }
    }
    ring.take(into: &taken)
    #expect(taken == expected)
    #expect(ring.count == 0)
  }

  @Test("A full ring accepts nothing until bytes were taken")
  func full() {
    let ring = ByteRing(capacity: 8)
    #expect(ring.append([UInt8](repeating: 1, count: 8).span) == 8)
    #expect(ring.append([2].span) == nil)
    #expect(ring.append([UInt8](repeating: 2, count: 9).span) == nil)
    var taken: [UInt8] = []
    ring.take(into: &taken)
    #expect(taken == [UInt8](repeating: 1, count: 8))
    #expect(ring.append([2].span) == 1)
  }

  @Test("One thread reads what another writes, without a loss")
  func threads() throws {
    let ring = ByteRing(capacity: 64)
    let count = 200_000
    try OSThread.start("ring-writer") {
      var number = 0
      while number < count {
        let value = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8), 7]
        if ring.append(value.span) != nil { number += 1 }
      }
    }
    var taken: [UInt8] = []
    while taken.count < 3 * count { ring.take(into: &taken) }
    var isInOrder = true
    for number in 0..<count where taken[3 * number] != UInt8(truncatingIfNeeded: number) || taken[3 * number + 2] != 7 {
      isInOrder = false
    }
    #expect(isInOrder && taken.count == 3 * count)
  }
}
