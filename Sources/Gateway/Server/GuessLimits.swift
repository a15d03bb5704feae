import Enforcement
import HTTP
import OAuth
import Reactor
import Stores
import Time

/// The limits of guesses of one kind of code, by browser and by network. Nothing is counted for a code, so a code that
/// others guess stays usable for its owner. A program can delete its cookies, so the limit of the network is the one that
/// stops it.
///
/// An attempt takes a token of both buckets when it begins. A right code gives the tokens back. So attempts at the same
/// time cannot exceed the limit.
struct GuessLimits: Sendable {
  /// The wrong codes that a browser may send. Tests of conformance send six.
  static let ofBrowser = TokenBucket.Rate(burst: 6, perMinute: 1)
  /// The wrong codes that all browsers of a network may send. `docs/threat-model.md` computes the probability of a
  /// right guess from this rate.
  static let ofNetwork = TokenBucket.Rate(burst: 30, perMinute: 3)
  /// The wrong codes that all browsers behind a reverse proxy on this machine may send if the proxy is not in
  /// `trusted_proxies`: their networks are not known.
  static let ofThisMachine = TokenBucket.Rate(burst: 60, perMinute: 60)

  private let tokensOfGuess: Int
  private let browsers: RateLimiter
  private let networks: RateLimiter
  private let thisMachine: RateLimiter

  /// Creates limits that permit the rates above.
  ///
  /// - Parameter tokensOfGuess: The tokens that a wrong code takes. An attempt whose result is not known yet takes only
  ///   one of them, so this is also the number of attempts at the same time for each permitted wrong code. It must be
  ///   more than 1 if the result takes long and most codes are right.
  init(tokensOfGuess: Int) {
    self.tokensOfGuess = tokensOfGuess
    browsers = GuessLimits.limiter(GuessLimits.ofBrowser, tokensOfGuess)
    networks = GuessLimits.limiter(GuessLimits.ofNetwork, tokensOfGuess)
    thisMachine = GuessLimits.limiter(GuessLimits.ofThisMachine, tokensOfGuess)
  }

  private static func limiter(_ rate: TokenBucket.Rate, _ tokensOfGuess: Int) -> RateLimiter {
    RateLimiter(TokenBucket.Rate(burst: rate.burst * tokensOfGuess, perMinute: rate.perMinute * tokensOfGuess))
  }

  /// An attempt to use a code.
  struct Attempt {
    private typealias Bucket = (limiter: RateLimiter, key: RateKey)

    private let tokensOfGuess: Int
    private let browser: Bucket
    private let network: Bucket

    fileprivate init(_ limits: GuessLimits, from origin: SignInOrigin) {
      tokensOfGuess = limits.tokensOfGuess
      browser = (limits.browsers, RateKey(browserOf: origin))
      network = (origin.network == nil ? limits.thisMachine : limits.networks, RateKey(networkOf: origin))
    }

    /// The time to wait if there were too many wrong codes; `nil` if an attempt may begin now.
    func wait() -> Seconds? {
      let now = SystemClock.monotonicTime()
      let waits = (browser.limiter.retryAfter(browser.key, now: now), network.limiter.retryAfter(network.key, now: now))
      guard let first = waits.0 else { return waits.1 }
      return max(first, waits.1 ?? first)
    }

    /// Begins the attempt. Returns the time to wait, and begins nothing, if there were too many wrong codes; `nil` if the
    /// code may be used.
    func begin() -> Seconds? {
      let now = SystemClock.monotonicTime()
      guard browser.limiter.take(browser.key, now: now) else {
        return browser.limiter.retryAfter(browser.key, now: now) ?? 1
      }
      guard network.limiter.take(network.key, now: now) else {
        browser.limiter.giveBack(browser.key, at: browser.limiter.rate, now: now)
        return network.limiter.retryAfter(network.key, now: now) ?? 1
      }
      return nil
    }

    /// Removes an attempt that began from the counts, because the code was right.
    func giveBack() {
      let now = SystemClock.monotonicTime()
      browser.limiter.giveBack(browser.key, at: browser.limiter.rate, now: now)
      network.limiter.giveBack(network.key, at: network.limiter.rate, now: now)
    }

    /// Counts an attempt that began as a wrong code.
    func countWrong() {
      let now = SystemClock.monotonicTime()
      browser.limiter.charge(browser.key, tokensOfGuess - 1, now: now)
      network.limiter.charge(network.key, tokensOfGuess - 1, now: now)
    }
  }

  /// Returns an attempt from a browser and its network. It counts nothing until it begins.
  func attempt(from origin: SignInOrigin) -> Attempt { Attempt(self, from: origin) }
}

extension InterceptedRequest {
  /// The code of the network of the request, for the limits of guesses; `nil` if the request came from this machine.
  var guessNetwork: UInt64? {
    request.peer.isLoopback ? nil : NetworkPrefix.networkCode(of: request.peer.address)
  }

  /// Returns the page for a sign-in after too many sign-ins whose codes the server refused; otherwise `nil`.
  func throttledSignIn(from origin: SignInOrigin) -> Response? {
    guard let wait = gateway.resources.codeGuesses.attempt(from: origin).wait() else { return nil }
    return tooManyGuesses(.codeAttempts, retryAfter: wait)
  }

  /// Records a refusal after too many wrong codes, and returns its page.
  func tooManyGuesses(_ rejection: Rejection, retryAfter wait: Seconds) -> Response {
    trail.recordRefusal(rejection)
    var page = ErrorPage(rejection, transaction: trail.transaction)
    page.retryAfter = wait
    return pages.error(page)
  }
}
