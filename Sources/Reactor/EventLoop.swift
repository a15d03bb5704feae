import CLinux
import Synchronization
import Time

/// The event loop of one thread and the serial executor of its `Worker`.
///
/// Theory of operation. The loop runs in turns. A turn runs the jobs (parts of tasks between two waits) that were
/// queued when it began. Then it asks the kernel for events: without blocking if jobs were queued meanwhile, otherwise
/// until the next deadline. For an event, it queues the job of the task that waits for the event; the job runs in the
/// next turn. So a task that yields cannot starve the sockets, and the sockets cannot starve the jobs.
///
/// A task yields (`Waiter.yieldShare`) when it has moved many bytes and has more to move, or in front of work that may be
/// expensive if the turn has already taken long. At most `postponedPerTurn` of these tasks continue in each turn, and not
/// after `longTurn`, in the order in which they yielded; otherwise hundreds of large transfers or expensive requests would
/// delay every step of a small request.
///
/// A task that is about to send the result of long work joins the send batch (`Waiter.joinSendBatch`): it waits until
/// the other jobs of the turn, at most `sendBatchJobLimit`, have run. Then all tasks of the batch send, one right after
/// the other. A peer that receives several of these sends wakes up once instead of once per send (docs/adr/0014).
///
/// A task that sends for several others (an HTTP/2 connection with its streams) continues after the other jobs of the
/// next turn, at most `jobsBeforeLast` (`Waiter.resumeLast`), so that one send takes the bytes that they produce until
/// then.
@safe public final class EventLoop: SerialExecutor {
  private let inbox = Mutex<[UnownedJob]>([])
  private let epoll: Int32
  private let wakeDescriptor: Int32
  /// The start of the current turn in monotonic milliseconds; 0 while the loop waits for events. Other threads read it
  /// to detect a blocked loop.
  private let turnBegan = Atomic<UInt64>(0)
  /// The jobs of the next turn. Only the loop's own thread touches this array: `queue` checks `isCurrent` first.
  nonisolated(unsafe) private var ready: [UnownedJob] = []
  /// The jobs of the next turn that run after those in `ready`, at the latest after `jobsBeforeLast` of them. Only the
  /// loop's own thread touches this array.
  nonisolated(unsafe) private var readyLast: [UnownedJob] = []
  /// The jobs of tasks that called `yieldShare`, in this order. Only the loop's own thread touches this array.
  nonisolated(unsafe) private var postponed: [UnownedJob] = []

  /// The jobs of the send batch. Only the loop's own thread touches this array.
  nonisolated(unsafe) private var sendBatch: [UnownedJob] = []
  /// True while a job runs if other jobs of this turn, or jobs of the send batch, have yet to run. Only the loop's own
  /// thread touches this property.
  nonisolated(unsafe) private(set) var otherJobsRemain = false

  /// The maximum number of jobs that run before the send batch continues, counted from the first job that joined it.
  /// With this limit, enough tasks join a batch to share one wake-up of the peer, and the first of them does not wait
  /// long.
  static let sendBatchJobLimit = 32

  /// The maximum number of jobs of a turn that run before those in `readyLast`. A turn has so many only while very many
  /// streams begin at once; the output of others must not wait for all of them.
  static let jobsBeforeLast = 256

  /// The maximum number of postponed jobs that continue in a turn. If each moves 64 KiB, they take about a millisecond.
  /// A smaller number would need more turns for the same bytes, and each turn costs a system call.
  static let postponedPerTurn = 8

  /// The time after which no further postponed job continues in a turn, and after which jobs that would begin expensive
  /// work postpone it (`Poller.isTurnLong`). So a connection with many expensive requests delays others only a little.
  static let longTurn: Nanoseconds = 1_000_000

  /// The poller of the worker while the loop runs, for `Poller.current`. Only the loop's own thread touches it.
  nonisolated(unsafe) private(set) var poller: Unmanaged<Poller>?

  /// The requests of the loop's tasks, for the line about a crash. Only the loop's own thread touches them; the handler of
  /// a signal that the thread receives reads them.
  nonisolated(unsafe) let requests: UnsafeMutablePointer<cl_requests>

  /// The number of the request on which the running task works; 0 if there is none. A task that waits restores it
  /// afterwards. Only the loop's own thread touches it.
  var currentRequest: UInt64 {
    @inline(__always) get { unsafe requests.pointee.current }
    @inline(__always) set { unsafe requests.pointee.current = newValue }
  }

  /// The epoll key of `wakeDescriptor`. All other keys belong to sockets (`Poller.register`).
  static let wakeKey = UInt64.max

  init() throws(IOError) {
    unsafe poller = nil
    let created = try IOError.check(cl_epoll_create())
    let wake = cl_eventfd()
    guard wake >= 0, let allocated = unsafe cl_requests_create() else {
      // `deinit` does not run if init throws before all properties are set, so close the descriptors here.
      cl_close(created)
      if wake >= 0 { cl_close(wake) }
      throw wake < 0 ? IOError(code: -wake) : .noMemory
    }
    wakeDescriptor = wake
    unsafe requests = allocated
    epoll = created
    _ = try IOError.check(cl_epoll_add_level(epoll, wakeDescriptor, EventLoop.wakeKey))
  }

  deinit {
    cl_close(wakeDescriptor)
    cl_close(epoll)
    unsafe cl_requests_free(requests)
  }

  /// The epoll descriptor, with which the poller registers sockets.
  var descriptor: Int32 { epoll }

  /// True if the caller is on this loop's thread.
  public var isCurrent: Bool { unsafe cl_current_loop() == Unmanaged.passUnretained(self).toOpaque() }

  /// Queues a job of the worker, from any thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    queue(UnownedJob(job))
  }

  /// Queues a job whose wait has ended. Called on the loop's own thread.
  func resume(_ job: UnownedJob) {
    unsafe ready.append(job)
  }

  /// Queues a job whose wait has ended, and that runs after the other jobs of the next turn, at the latest after
  /// `jobsBeforeLast` of them. Called on the loop's own thread.
  func resumeLast(_ job: UnownedJob) {
    unsafe readyLast.append(job)
  }

  /// Queues a job that continues after the other jobs of this turn or of a later one, because only `postponedPerTurn`
  /// of these jobs continue in each turn. Called on the loop's own thread.
  func postpone(_ job: UnownedJob) {
    unsafe postponed.append(job)
  }

  /// Queues a job that continues later in this turn, after other jobs. Valid only while `otherJobsRemain` is true.
  /// Called on the loop's own thread.
  func joinSendBatch(_ job: UnownedJob) {
    assert(unsafe otherJobsRemain, "no later job of this turn would run the send batch")
    unsafe sendBatch.append(job)
  }

  /// Queues a job, from any thread.
  func queue(_ job: UnownedJob) {
    if isCurrent {
      unsafe ready.append(job)
      return
    }
    let wasEmpty = inbox.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    if wasEmpty { cl_eventfd_signal(wakeDescriptor) }
  }

  /// Traps unless the caller is on the loop's thread.
  public func checkIsolated() {
    precondition(isCurrent, "called from outside the worker's thread")
  }

  /// True if the caller is on the loop's thread.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// The duration of the current turn until `now`; 0 while the loop waits for events.
  public func turnDuration(at now: MonotonicTime) -> Milliseconds {
    let began = turnBegan.load(ordering: .relaxed)
    return began == 0 ? 0 : now - MonotonicTime(milliseconds: began)
  }

  /// Runs turns until the worker has been stopped and no jobs are queued. Called once; the calling thread becomes the
  /// loop's own thread.
  func run(_ worker: Worker) {
    unsafe cl_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
    unsafe cl_set_current_requests(requests)
    defer {
      cl_set_current_requests(nil)
      cl_set_current_loop(nil)
    }
    let serial = unsafe asUnownedSerialExecutor()
    let capacity: Int32 = 256
    let events = UnsafeMutableRawPointer.allocate(byteCount: Int(capacity * cl_event_size()), alignment: 8)
    defer { unsafe events.deallocate() }
    var turnJobs: [UnownedJob] = []
    let poller = worker.assumeIsolated { UnsafeTransfer($0.poller) }.value
    unsafe self.poller = Unmanaged.passUnretained(poller)
    defer { unsafe self.poller = nil }

    while true {
      unsafe swap(&turnJobs, &ready)
      if unsafe !readyLast.isEmpty {
        let position = min(turnJobs.count, EventLoop.jobsBeforeLast)
        unsafe turnJobs.insert(contentsOf: readyLast, at: position)
        unsafe readyLast.removeAll(keepingCapacity: true)
      }
      unsafe runReady(turnJobs, serial)
      turnJobs.removeAll(keepingCapacity: true)
      if unsafe !postponed.isEmpty { unsafe runPostponed(serial) }

      let isIdle = unsafe ready.isEmpty && readyLast.isEmpty && postponed.isEmpty
      if isIdle, poller.isStopped { return }
      let timeout = isIdle ? poller.millisecondsToNextDeadline() : 0
      if timeout != 0 { turnBegan.store(0, ordering: .relaxed) }
      let count = unsafe cl_epoll_wait(epoll, events, capacity, timeout)
      poller.updateNow()
      turnBegan.store(poller.now.milliseconds, ordering: .relaxed)
      if count > 0 {
        for index in 0..<count {
          let key = unsafe cl_event_key(events, index)
          if key == EventLoop.wakeKey {
            cl_eventfd_clear(wakeDescriptor)
            let jobs = inbox.withLock { jobs in
              let taken = jobs
              jobs = []
              return taken
            }
            unsafe ready.append(contentsOf: jobs)
          } else {
            unsafe poller.deliver(cl_event_bits(events, index), to: key)
          }
        }
      }
      if poller.hasHeldBackReadiness { poller.deliverHeldBack() }
      poller.expire()
      if !poller.pendingActivities.isEmpty { worker.assumeIsolated { $0.startPending() } }
    }
  }

  @inline(__always)
  private func run(_ job: UnownedJob, _ serial: UnownedSerialExecutor) {
    unsafe job.runSynchronously(on: serial)
    currentRequest = 0
  }

  private func runReady(_ jobs: [UnownedJob], _ serial: UnownedSerialExecutor) {
    // The index of the first job that joined the send batch; without meaning while the batch is empty.
    var sendBatchStart = 0
    for index in jobs.indices {
      let isLast = index + 1 == jobs.count
      if unsafe sendBatch.isEmpty { sendBatchStart = index }
      unsafe otherJobsRemain = !isLast || !sendBatch.isEmpty
      unsafe run(jobs[index], serial)
      guard unsafe !sendBatch.isEmpty else { continue }
      if isLast || index + 1 - sendBatchStart >= EventLoop.sendBatchJobLimit { unsafe runSendBatch(serial) }
    }
  }

  private func runSendBatch(_ serial: UnownedSerialExecutor) {
    // False, so that the jobs of the batch do not join it again.
    unsafe otherJobsRemain = false
    for index in unsafe sendBatch.indices { unsafe run(sendBatch[index], serial) }
    unsafe sendBatch.removeAll(keepingCapacity: true)
  }

  private func runPostponed(_ serial: UnownedSerialExecutor) {
    let began = SystemClock.monotonicInstant()
    // Jobs that are postponed meanwhile continue in a later turn.
    let jobs = unsafe Array(postponed.prefix(EventLoop.postponedPerTurn))
    var count = 0
    for job in jobs where count == 0 || SystemClock.monotonicInstant() - began < EventLoop.longTurn {
      count += 1
      unsafe run(job, serial)
    }
    unsafe postponed.removeFirst(count)
  }
}

/// Passes the worker's poller to its loop. Sound because both are used only on the loop's thread.
private struct UnsafeTransfer: @unchecked Sendable {
  let value: Poller
  init(_ value: Poller) { self.value = value }
}
