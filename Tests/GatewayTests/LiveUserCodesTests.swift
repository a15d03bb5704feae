import OAuth
import Testing
import Time

@testable import Gateway

@Suite("Live user codes")
struct LiveUserCodesTests {
  @Test("While 10,000 codes are live, new codes have twelve letters")
  func lengths() {
    let codes = LiveUserCodes()
    var lengths: [Int: Int] = [:]
    for _ in 0..<10_001 { lengths[codes.nextLength(expiry: 600, replicas: 1, now: 0), default: 0] += 1 }
    #expect(lengths == [UserCode.usualLength: 10_000, UserCode.extendedLength: 1])
    let later = codes.nextLength(expiry: 1_300, replicas: 1, now: 700)
    #expect(later == UserCode.usualLength)
  }

  @Test("Each of several replicas issues its part of the short codes")
  func replicas() {
    let codes = LiveUserCodes()
    for _ in 0..<5_000 { _ = codes.nextLength(expiry: 600, replicas: 2, now: 0) }
    let next = codes.nextLength(expiry: 600, replicas: 2, now: 0)
    #expect(next == UserCode.extendedLength)
  }
}
