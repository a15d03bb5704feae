import HTTP
import HTTP1
import Proxy
import Reactor
import Stores
import Time

/// The processor time that the expensive requests of one client address may take, on all workers together.
///
/// A client chooses how much work its request is: a target or a form can be built so that reading it takes a hundred times
/// longer than reading an ordinary one. Each request has 1,000,000 instructions for free, as many for the decoding of its
/// chunks, and the rest is charged to the client's address: 100 ms a second. An address without time left gets 429 for requests that may be expensive, before
/// they are read. Its other requests pass, because other users may share the address. Requests from this machine are not
/// limited.
///
/// The time is measured with the monotonic clock, which costs no system call. It includes the time in which the kernel
/// runs another thread. That rarely falls into work of a few microseconds, and no request is charged for more than the
/// most expensive one takes. So on a busy machine, a request with 10 us of work is charged for less than 10 us on
/// average.
final class ProcessorTime: Sendable {
  /// The length in bytes above which a form or the query of an endpoint may be expensive. The work is linear, and a form
  /// has at most 8 KiB of names.
  static let longForm = 1_024
  /// The length in bytes above which a head with an ordinary target may be expensive. Fields take less work than targets,
  /// and cookies of ordinary sites are long.
  static let longHead = 4_096
  /// 1,000,000 instructions.
  static let free: Nanoseconds = 300_000
  /// 8,000,000 instructions, the maximum for one request (`make cost`).
  static let most: Nanoseconds = 2_400_000
  /// In microseconds: 100 ms at once, and 100 ms a second.
  static let rate = TokenBucket.Rate(burst: 100_000, perMinute: 6_000_000)

  private let addresses = RateLimiter(ProcessorTime.rate)
  private let clock: @Sendable () -> MonotonicInstant

  init(clock: @escaping @Sendable () -> MonotonicInstant) {
    self.clock = clock
  }

  /// Returns false if the client's address has no time left.
  func permits(_ peer: Peer) -> Bool { begin(for: peer) != nil }

  /// Begins work that may be expensive. Returns `nil` if the client's address has no time left.
  func begin(for peer: Peer) -> Work? {
    let began = clock()
    guard !peer.isLoopback else { return Work(self, nil, began) }
    let key = RateKey(address: peer.address)
    guard addresses.retryAfter(key, now: MonotonicTime(began)) == nil else { return nil }
    return Work(self, key, began)
  }

  /// Charges the client's address for work that was measured, except the part that is free.
  func charge(_ work: Nanoseconds, to peer: Peer) {
    guard !peer.isLoopback else { return }
    let due = ProcessorTime.due(work)
    if due > 0 { addresses.charge(RateKey(address: peer.address), due, now: MonotonicTime(clock())) }
  }

  /// Returns the part of the time that is not free, in microseconds.
  private static func due(_ time: Nanoseconds) -> Int {
    Int(clamping: min(time, most).count.saturatingDifference(free.count) / 1_000)
  }

  /// The work on one request, between two waits.
  struct Work {
    private let time: ProcessorTime
    /// The client's address; `nil` for one without a limit.
    private let key: RateKey?
    private let began: MonotonicInstant
    /// In microseconds.
    private var charged = 0

    fileprivate init(_ time: ProcessorTime, _ key: RateKey?, _ began: MonotonicInstant) {
      self.time = time
      self.key = key
      self.began = began
    }

    /// Charges the time since the work began, except the part that is free or already charged. No wait may lie in
    /// between.
    mutating func charge() {
      guard let key else { return }
      let now = time.clock()
      let due = ProcessorTime.due(now - began)
      guard due > charged else { return }
      time.addresses.charge(key, due - charged, now: MonotonicTime(now))
      charged = due
    }
  }

  // MARK: Requests that may be expensive

  /// Returns true if reading a form in this body may be expensive.
  static func isLong(_ body: BodyFraming) -> Bool {
    switch body {
    case .none: false
    case .length(let count): count > longForm
    case .chunked, .untilClose: true
    }
  }

  /// Returns true if reading the request may be expensive.
  static func isLong(_ request: Request) -> Bool {
    request.body.count > longForm || request.target.utf8.count > longForm
      || request.headers.fields.reduce(0) { $0 + $1.value.utf8.count } > longHead
  }
}
