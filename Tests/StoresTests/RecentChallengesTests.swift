import Stores
import Testing

@Suite("9700-2.1.1-constant-challenge: challenges that were seen before")
struct RecentChallengesTests {
  @Test("A challenge from a second browser is noticed; one from the same browser is a reload")
  func noticed() {
    let seen = RecentChallenges(capacity: 64)
    #expect(!seen.recordAndCheckReuse("a", from: [1]))
    #expect(!seen.recordAndCheckReuse("a", from: [1]))
    #expect(seen.recordAndCheckReuse("a", from: [2]))
    #expect(!seen.recordAndCheckReuse("b", from: [2]) || !seen.recordAndCheckReuse("c", from: [2]))
  }

  @Test("A flood of challenges makes it forget old ones")
  func forgets() {
    let seen = RecentChallenges(capacity: 1)
    #expect(!seen.recordAndCheckReuse("a", from: [1]))
    #expect(!seen.recordAndCheckReuse("b", from: [1]))
    #expect(!seen.recordAndCheckReuse("a", from: [2]))
  }
}
