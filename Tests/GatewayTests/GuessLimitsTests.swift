import OAuth
import Stores
import Testing
import Time

@testable import Gateway

@Suite("Limits of guesses")
struct GuessLimitsTests {
  @Test("Attempts whose results are not known take one token each, right codes give it back, and wrong ones take eight")
  func attempts() throws {
    let limits = GuessLimits(tokensOfGuess: 8)
    let attempt = limits.attempt(from: SignInOrigin(browser: 1, network: 1))
    for _ in 0..<200 {
      #expect(attempt.begin() == nil)
      attempt.giveBack()
    }
    for _ in 0..<48 { #expect(attempt.begin() == nil) }
    let wait = try #require(attempt.begin())
    #expect(wait > 0)
    attempt.giveBack()
    #expect(attempt.wait() == nil)
    attempt.countWrong()
    #expect(attempt.wait() != nil)
    // The browser's tokens alone are used up.
    #expect(limits.attempt(from: SignInOrigin(browser: 2, network: 1)).begin() == nil)
    #expect(NetworkPrefix.networkCode(of: "192.0.2.7") == NetworkPrefix.networkCode(of: "192.0.2.200"))
    #expect(NetworkPrefix.networkCode(of: "2001:db8:7::1") == NetworkPrefix.networkCode(of: "2001:db8:7:9::2"))
    #expect(NetworkPrefix.networkCode(of: "192.0.2.7") != NetworkPrefix.networkCode(of: "192.0.3.7"))
  }
}
