import DiceTestSupport
import OAuth
import Stores
import Testing
import Time

@testable import Gateway

/// The numbers of docs/threat-model.md on guesses of user codes, with the limits and the codes of the gateway.
@Suite("Guesses of user codes")
struct UserCodeGuessTests {
  /// The number of user codes of eight letters.
  private static let codeCount: UInt64 = 25_600_000_000
  private static let guessCount = 10_000_000

  /// Returns the number of a code among all codes of eight letters.
  private static func number(of code: UserCode) -> UInt64 {
    let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    return code.letters.utf8.reduce(0) { $0 * 20 + UInt64(alphabet.firstIndex(of: $1) ?? 0) }
  }

  /// The codes that the gateway issues to many devices, until it issues longer ones.
  private static func liveCodes() throws -> Set<UInt64> {
    let lengths = LiveUserCodes()
    var random = SeededGenerator(seed: 3)
    var live: Set<UInt64> = []
    while lengths.nextLength(expiry: 600, replicas: 1, now: 0) == UserCode.usualLength {
      let bytes = random.bytes(32)
      live.insert(number(of: try #require(UserCode(length: UserCode.usualLength, random: bytes))))
    }
    return live
  }

  @Test(
    "1,000 networks that send 10,000,000 guesses in ten minutes may try 60,000 codes, and find none of 10,000 live ones"
  )
  func limited() throws {
    let live = try Self.liveCodes()
    #expect((9_990...10_000).contains(live.count))
    let browsers = RateLimiter(GuessLimits.ofBrowser)
    let networks = RateLimiter(GuessLimits.ofNetwork)
    let networkCount = 1_000
    let keys = (0..<networkCount).map { RateKey(network: "198.\($0 / 250).\($0 % 250).1") }
    let duration = 600
    var guesses = SeededGenerator(seed: 1)
    var (sent, tried, found, browser) = (0, 0, 0, UInt64(0))
    for second in 0..<duration {
      let now = MonotonicTime(milliseconds: UInt64(second) * 1_000)
      // Each network sends the same number of guesses in each second.
      let count =
        Self.guessCount / networkCount * (second + 1) / duration - Self.guessCount / networkCount * second / duration
      for key in keys {
        sent += count
        for _ in 0..<count {
          // A guess comes from a new browser, because cookies can be deleted.
          browser += 1
          let bytes = (0..<16).map { UInt8(truncatingIfNeeded: browser >> UInt64($0 % 8 * 8)) }
          guard browsers.take(RateKey(transaction: TransactionID(bytes: bytes)), now: now) else { break }
          // All guesses after a refused one of the same second are refused too.
          guard networks.take(key, now: now) else { break }
          tried += 1
          if live.contains(guesses.next() % Self.codeCount) { found += 1 }
        }
      }
    }
    #expect(sent == Self.guessCount)
    #expect(tried <= networkCount * 60)
    #expect(tried > networkCount * 55)
    // 60,000 guesses find a code with the probability 2.3 %.
    #expect(found == 0)
  }

  @Test("Of 10,000,000 guesses that pass the limits, as many find a live code as the documented probability says")
  func unlimited() throws {
    let live = try Self.liveCodes()
    // A small table finds most misses without hashing.
    var table = [Bool](repeating: false, count: 1 << 20)
    for code in live { table[Int(code & 0xfffff)] = true }
    var guesses = SeededGenerator(seed: 2)
    var found = 0
    for _ in 0..<Self.guessCount {
      let guess = guesses.next() % Self.codeCount
      if table[Int(guess & 0xfffff)], live.contains(guess) { found += 1 }
    }
    // The expectation is 10,000,000 * 10,000 / 20^8 = 3.9.
    #expect((1...9).contains(found))
  }
}
