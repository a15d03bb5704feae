/// The reason why a wait ended.
public enum Wake: Equatable, Sendable {
  /// A socket is ready for the operation waited for or is broken, or other code has called `resume`.
  case ready
  /// The deadline passed.
  case timedOut
  /// The worker is draining, and the task waited for the next request.
  case draining
  /// Too many connections are idle, or memory is short: the connection should release its task and buffer and continue
  /// as a parked one.
  case park
}

/// The wait of one task, for up to two sockets and a deadline.
///
/// The waiter itself is the entry of the timer wheel for the deadline: a cancellation handler or a racing child task
/// would cost 3 to 30 times as much.
@safe public final class Waiter: JobHost {
  /// The job of the task while it waits.
  private var suspendedJob: UnownedJob?
  /// The reason why the last wait ended.
  private var wake = Wake.ready
  /// The kind of a wait that only lets other jobs run first; `nil` for a wait that an event or `resume` ends.
  private var yieldKind: YieldKind?
  private let poller: Poller
  // The parts of the poller that a wait uses, cached to avoid a retain and release per use.
  private let loop: EventLoop
  private let suspension: Suspension
  private let wheel: TimerWheel
  private let idle: IdleList
  // The links of the list of idle waits, oldest first. Unretained: a waiter is in the list only while its task waits,
  // and the task holds it.
  fileprivate var idleNext: Unmanaged<Waiter>?
  fileprivate var idlePrevious: Unmanaged<Waiter>?
  /// True while the waiter is in the list of idle waits.
  var isIdle = false

  private enum YieldKind {
    case yield
    case yieldShare
    case joinSendBatch
  }

  /// Creates a waiter for a task of the poller's worker.
  public init(_ poller: Poller) {
    unsafe idleNext = nil
    unsafe idlePrevious = nil
    self.poller = poller
    loop = poller.loop
    suspension = poller.suspension
    wheel = poller.wheel
    idle = poller.idle
  }

  /// Waits until `socket` is ready for `wanted`, or is broken.
  public func wait(_ socket: Socket, _ wanted: Readiness, until deadline: Deadline) async -> Wake {
    if socket.satisfies(wanted) { return .ready }
    listen(to: socket, for: wanted)
    wheel.arm(self, at: deadline)
    await suspend()
    unsafe socket.waiter = nil
    return wake
  }

  /// Waits until one of the two sockets is ready for its wanted operations, or is broken.
  public func wait(
    _ first: Socket, _ firstWanted: Readiness, _ second: Socket, _ secondWanted: Readiness, until deadline: Deadline
  ) async -> Wake {
    if first.satisfies(firstWanted) || second.satisfies(secondWanted) { return .ready }
    listen(to: first, for: firstWanted)
    listen(to: second, for: secondWanted)
    wheel.arm(self, at: deadline)
    await suspend()
    unsafe first.waiter = nil
    unsafe second.waiter = nil
    return wake
  }

  /// Waits for the first byte of the next request. Ends early if the worker drains, too many tasks are idle, or memory
  /// is short.
  public func waitIdle(_ socket: Socket, until deadline: Deadline) async -> Wake {
    if socket.satisfies(.readable) { return .ready }
    if poller.isDraining { return .draining }
    listen(to: socket, for: .readable)
    wheel.arm(self, at: deadline)
    idle.append(self)
    await suspend()
    idle.remove(self)
    unsafe socket.waiter = nil
    return wake
  }

  /// Waits for the deadline or for a call of `resume`.
  public func sleep(until deadline: Deadline) async -> Wake {
    wheel.arm(self, at: deadline)
    await suspend()
    return wake
  }

  /// Waits for a call of `resume`. If the deadline of an earlier wait is still armed, it may end this wait too.
  public func waitForResume() async {
    await suspend()
  }

  /// Lets the jobs that are already queued run first.
  public func yield() async {
    yieldKind = .yield
    await suspend()
  }

  /// Like `yield`, for a task that has moved many bytes and has more to move: only a few of these tasks continue in a
  /// turn, in the order of their calls.
  public func yieldShare() async {
    yieldKind = .yieldShare
    await suspend()
  }

  /// Lets other jobs of this turn run first. For a task that is about to send the result of long work: all such tasks
  /// then send together. Returns at once if no other jobs of this turn remain.
  public func joinSendBatch() async {
    guard unsafe loop.otherJobsRemain else { return }
    yieldKind = .joinSendBatch
    await suspend()
  }

  private func suspend() async {
    let request = loop.currentRequest
    unsafe suspension.executor.host = Unmanaged.passUnretained(self)
    await suspension.enter()
    loop.currentRequest = request
  }

  override func receive(_ job: UnownedJob) {
    guard let yieldKind else {
      suspendedJob = job
      return
    }
    self.yieldKind = nil
    switch yieldKind {
    case .yield: loop.resume(job)
    case .yieldShare: loop.postpone(job)
    case .joinSendBatch: loop.joinSendBatch(job)
    }
  }

  /// Makes the socket resume this waiter once it is ready for `wanted`.
  private func listen(to socket: Socket, for wanted: Readiness) {
    unsafe socket.waiter = Unmanaged.passUnretained(self)
    socket.interest = wanted
  }

  /// True if the task waits for an event or for `resume`; otherwise it runs or is queued to run.
  public var isWaiting: Bool { suspendedJob != nil }

  /// Ends the wait. Does nothing if the task does not wait any more, e.g. for the second event of a turn, or for a
  /// deadline that passes after an event has ended the wait.
  public func resume(_ wake: Wake) {
    if let job = takeJob(wake) { loop.resume(job) }
  }

  /// Ends the wait like `resume(.ready)`, but the task continues after the other tasks of the next turn, at the latest
  /// after `EventLoop.jobsBeforeLast` of them. For a task that sends what other tasks produce, so that it sends the bytes
  /// of many at once. Tasks of the send batch, and those that have yielded their share, may run even later.
  public func resumeLast() {
    if let job = takeJob(.ready) { loop.resumeLast(job) }
  }

  private func takeJob(_ wake: Wake) -> UnownedJob? {
    guard let job = suspendedJob else { return nil }
    suspendedJob = nil
    self.wake = wake
    return job
  }

  /// Ends the wait with `timedOut`.
  public override func expired() {
    resume(.timedOut)
  }

  /// Cancels the deadline, because the task ends.
  public func cancelDeadline() {
    wheel.disarm(self)
  }
}

/// Idle waits in the order in which they began.
@safe final class IdleList {
  /// If more connections than this are idle, the one that has been idle longest releases its task and buffer.
  static let limit = 256

  private var first: Unmanaged<Waiter>?
  private var last: Unmanaged<Waiter>?
  private(set) var count = 0

  init() {
    unsafe first = nil
    unsafe last = nil
  }

  func append(_ waiter: Waiter) {
    let entry = unsafe Unmanaged.passUnretained(waiter)
    waiter.isIdle = true
    unsafe waiter.idlePrevious = last
    unsafe waiter.idleNext = nil
    if let last = unsafe last {
      unsafe last._withUnsafeGuaranteedRef { unsafe $0.idleNext = entry }
    } else {
      unsafe first = entry
    }
    unsafe last = entry
    count += 1
    if count > IdleList.limit, let oldest = unsafe first?.takeUnretainedValue() {
      remove(oldest)
      oldest.resume(.park)
    }
  }

  func remove(_ waiter: Waiter) {
    guard waiter.isIdle else { return }
    waiter.isIdle = false
    let (previous, next) = unsafe (waiter.idlePrevious, waiter.idleNext)
    if let previous = unsafe previous {
      unsafe previous._withUnsafeGuaranteedRef { unsafe $0.idleNext = next }
    } else {
      unsafe first = next
    }
    if let next = unsafe next {
      unsafe next._withUnsafeGuaranteedRef { unsafe $0.idlePrevious = previous }
    } else {
      unsafe last = previous
    }
    unsafe waiter.idleNext = nil
    unsafe waiter.idlePrevious = nil
    count -= 1
  }

  /// Ends every idle wait with `wake`.
  func resumeAll(_ wake: Wake) {
    while let waiter = unsafe first?.takeUnretainedValue() {
      remove(waiter)
      waiter.resume(wake)
    }
  }
}
