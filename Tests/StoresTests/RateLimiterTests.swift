import OAuth
import Stores
import Testing
import Time

@Suite("Rate limits")
struct RateLimiterTests {
  private let rate = TokenBucket.Rate(burst: 5, perMinute: 10)

  @Test("A bucket gives its burst, then refills steadily and never above the burst")
  func bucket() {
    var bucket = TokenBucket(rate, now: 0)
    let first = (0..<7).map { _ in bucket.take(rate, now: 0) }
    #expect(first == [true, true, true, true, true, false, false])
    #expect(bucket.retryAfter(rate, now: 0) == 6)
    #expect(bucket.retryAfter(rate, now: 5_000) == 1)
    #expect(bucket.retryAfter(rate, now: 6_000) == nil)
    let later = (0..<2).map { _ in bucket.take(rate, now: 6_000) }
    #expect(later == [true, false])
    #expect(bucket.level(rate, now: 10_000_000) == 5)
  }

  @Test("A clock that goes back neither gives nor takes tokens")
  func clock() {
    var bucket = TokenBucket(rate, now: 60_000)
    let taken = (0..<5).map { _ in bucket.take(rate, now: 60_000) }
    #expect(taken == [true, true, true, true, true])
    let later = [0, 60_000].map { bucket.take(rate, now: $0) }
    #expect(later == [false, false])
  }

  @Test("Work that is charged afterwards may exceed the bucket by one burst, and the debt is repaid at the rate")
  func charge() {
    let limiter = RateLimiter(rate)
    let key = RateKey(address: "192.0.2.1")
    limiter.charge(key, 4, now: 0)
    #expect(limiter.retryAfter(key, now: 0) == nil)
    limiter.charge(key, -1_000, now: 0)
    #expect(limiter.take(key, now: 0))
    #expect(limiter.retryAfter(key, now: 0) == 6)
    limiter.charge(key, .max, now: 0)
    // 6 tokens at one in 6 seconds.
    #expect(limiter.retryAfter(key, now: 0) == 36)
    #expect(limiter.retryAfter(key, now: 36_000) == nil)
    #expect(limiter.retryAfter(RateKey(address: "192.0.2.2"), now: 0) == nil)
  }

  @Test("6749-2.3.1-brute-force: each key has a bucket of its own, and a check takes no token")
  func keys() {
    let limiter = RateLimiter(rate)
    let attacker = RateKey(client: ClientID("w1"), address: "192.0.2.1")
    for _ in 0..<5 {
      #expect(limiter.retryAfter(attacker, now: 0) == nil)
      #expect(limiter.take(attacker, now: 0))
    }
    #expect(!limiter.take(attacker, now: 0))
    #expect(limiter.retryAfter(attacker, now: 0) == 6)
    for other in [
      RateKey(client: ClientID("w1"), address: "192.0.2.2"), RateKey(client: ClientID("w2"), address: "192.0.2.1"),
      RateKey(address: "192.0.2.1"), RateKey(client: ClientID("w1")),
    ] {
      #expect(limiter.take(other, now: 0))
    }
  }

  @Test(
    "The addresses of an IPv6 customer share a bucket, in any spelling",
    arguments: [
      ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"), ("2001:db8:1:2::1", "2001:0DB8:0001:0002::2"),
      ("2001:db8::1", "2001:db8:0:0:1::"), ("fe80::1%eth0", "fe80::2%eth1"), ("::ffff:192.0.2.1", "192.0.2.1"),
      ("::ffff:c000:201", "192.0.2.1"), ("::", "::1"),
    ])
  func samePrefix(one: String, other: String) {
    #expect(RateKey(address: one) == RateKey(address: other))
  }

  @Test(
    "Different customers have different buckets",
    arguments: [
      ("2001:db8:1:2::1", "2001:db8:1:3::1"), ("192.0.2.1", "192.0.2.2"), ("::ffff:192.0.2.1", "::ffff:192.0.2.2"),
      ("2001:db8::1", "2001:db9::1"),
    ])
  func otherPrefix(one: String, other: String) {
    #expect(RateKey(address: one) != RateKey(address: other))
  }

  @Test(
    "Malformed addresses give keys without a crash",
    arguments: [
      "", ":", ":::", "1:2:3:4:5:6:7:8:9", "::1::2", "g::", "1.2.3", "::.", "%", "fffff::",
    ])
  func malformed(address: String) {
    #expect(RateKey(address: address) == RateKey(address: address))
  }

  @Test("A flood of addresses does not release a key that has no tokens left")
  func flood() {
    let limiter = RateLimiter(rate, maximumKeys: 128)
    let blocked = RateKey(address: "192.0.2.1")
    for _ in 0..<5 { #expect(limiter.take(blocked, now: 0)) }
    for number in 0..<10_000 {
      #expect(limiter.take(RateKey(address: "198.51.\(number / 250).\(number % 250)"), now: 0))
    }
    #expect(!limiter.take(blocked, now: 0))
  }
}
