import CLinux
import Time

/// The I/O state of one worker: its sockets by descriptor, its timer wheel, its buffers, the time of the current turn,
/// and the activities that are to be started.
///
/// Not Sendable, so the compiler keeps it and everything that refers to it inside its worker.
@safe public final class Poller {
  private let epoll: Int32
  let loop: EventLoop
  let suspension: Suspension
  /// The sockets, indexed by descriptor. Each is retained once here, so that an event needs no reference counting.
  private var slots: [Unmanaged<Socket>?] = unsafe []
  /// The generation of the socket that was registered last (`Socket.generation`).
  private var generation: UInt32 = 0
  let wheel: TimerWheel
  /// The tasks that wait for the next request of a connection.
  let idle = IdleList()
  /// The entries that `expire` handles, kept to reuse the array's memory.
  private var due: [TimerEntry] = []
  /// The activities that are to be started as tasks.
  var pendingActivities: [any Activity] = []
  /// The readiness that `Socket.holdBackReading` has removed from sockets. It is delivered after the next poll for
  /// events.
  private var heldBack: [(socket: Socket, bits: Readiness)] = []
  /// The time at which this turn began, in monotonic nanoseconds, read once per turn.
  public private(set) var turnBegan: MonotonicInstant

  /// True if the current turn has taken so long that work which may be expensive should wait for a later one
  /// (`Waiter.yieldShare`).
  public var isTurnLong: Bool { SystemClock.monotonicInstant() - turnBegan >= EventLoop.longTurn }
  /// The same time in milliseconds, for deadlines.
  public private(set) var now: MonotonicTime
  /// The number of turns of the loop so far.
  public private(set) var turn: UInt64 = 0
  /// The buffer blocks of this worker.
  public let buffers = BufferPool()
  /// True once the worker drains: requests in progress finish and no new ones begin.
  public private(set) var isDraining = false
  private(set) var isStopped = false
  /// The number of sockets registered here.
  public private(set) var openSockets = 0

  init(_ loop: EventLoop) {
    epoll = loop.descriptor
    self.loop = loop
    suspension = Suspension(loop)
    turnBegan = SystemClock.monotonicInstant()
    now = MonotonicTime(turnBegan)
    wheel = TimerWheel(now: now)
  }

  /// The deadline `time` after the start of this turn.
  public func deadline(after time: Milliseconds) -> Deadline { now + time }

  /// Takes over a descriptor and registers it once for all events, edge-triggered.
  ///
  /// - Parameters:
  ///   - counter: counts the socket as a client connection until it is closed; `nil` for any other socket.
  ///   - isListener: true for a listening socket, which other workers may have registered as well (a Unix listener has
  ///     one queue for all workers). A connection then wakes one of the waiting workers. The caller ends this with
  ///     `stopListening` before it closes the socket.
  ///
  /// Throws: the error of the registration; the descriptor is then closed.
  public func register(
    _ descriptor: Int32, counter: ConnectionCounter? = nil, isListener: Bool = false
  ) throws(IOError) -> Socket {
    generation &+= 1
    let socket = Socket(descriptor: descriptor, generation: generation, poller: self, counter: counter)
    let key = UInt64(generation) << 32 | UInt64(UInt32(bitPattern: descriptor))
    let result = isListener ? cl_epoll_add_listener(epoll, descriptor, key) : cl_epoll_add(epoll, descriptor, key)
    guard result >= 0 else {
      socket.close()
      throw IOError(code: -result)
    }
    while unsafe slots.count <= Int(descriptor) { unsafe slots.append(nil) }
    unsafe slots[Int(descriptor)] = Unmanaged.passRetained(socket)
    openSockets += 1
    return socket
  }

  /// Ends the events of a listening socket. Other workers may keep descriptors of the same socket. A connection would
  /// otherwise wake this worker instead of one that still accepts.
  func stopListening(_ socket: Socket) {
    _ = cl_epoll_remove(epoll, socket.descriptor)
  }

  /// Opens a connection and waits until it is established.
  ///
  /// - Parameter client: the socket of the client for which the connection is opened; the attempt ends if that socket
  ///   is broken.
  public func connect(
    to address: Address, with waiter: Waiter, until deadline: Deadline, abandonedBy client: Socket? = nil
  ) async throws(ConnectError)
    -> Socket
  {
    let socket: Socket
    do throws(IOError) {
      socket = try beginConnect(to: address)
    } catch {
      throw .failed(error)
    }
    let wake: Wake
    if let client {
      wake = await waiter.wait(socket, .writable, client, .broken, until: deadline)
    } else {
      wake = await waiter.wait(socket, .writable, until: deadline)
    }
    if let client, client.readiness.contains(.broken) {
      socket.close()
      throw .clientDisconnected
    }
    if wake == .ready {
      guard let error = socket.connectError() else { return socket }
      socket.close()
      throw .failed(error)
    }
    socket.close()
    throw .timedOut
  }

  /// Begins to open a connection. The socket is ready for writing, or broken, when the attempt has ended;
  /// `Socket.connectError` then returns the outcome.
  ///
  /// Throws: the error of a system call, or of an attempt that failed at once.
  public func beginConnect(to address: Address) throws(IOError) -> Socket {
    let descriptor = try IOError.check(cl_socket(address.system.family))
    _ = cl_set_no_delay(descriptor)
    _ = cl_set_urgent_inline(descriptor)
    var system = address.system
    let result = unsafe cl_connect(descriptor, &system)
    if result < 0, IOError(code: -result) != .inProgress {
      cl_close(descriptor)
      throw IOError(code: -result)
    }
    return try register(descriptor)
  }

  /// Opens a connection to the Unix socket at `path`, which succeeds or fails immediately.
  ///
  /// Throws: the error of the system call; `EAGAIN` if the server's queue of connections is full.
  public func connect(toUnixSocket path: String) throws(IOError) -> Socket {
    try register(try IOError.check(unsafe cl_connect_unix(path)))
  }

  /// Removes a socket that is being closed, so that no event is delivered to it.
  func unregister(_ socket: Socket) {
    let slot = Int(socket.descriptor)
    guard let entry = unsafe slots.indices.contains(slot) ? slots[slot] : nil,
      unsafe entry.takeUnretainedValue() === socket
    else { return }
    unsafe slots[slot] = nil
    openSockets -= 1
    unsafe entry.release()
  }

  /// Starts `activity` as a task of this worker, at the latest at the end of the turn.
  public func start(_ activity: any Activity) {
    pendingActivities.append(activity)
  }

  // MARK: The loop's side

  /// Delivers an event of the kernel to the socket that `register` gave this key, if the socket is still open.
  func deliver(_ bits: UInt32, to key: UInt64) {
    let slot = Int(truncatingIfNeeded: key & 0xffff_ffff)
    // The descriptor may have been closed, or closed and reopened, since the kernel reported this event.
    guard unsafe slot < slots.count, let entry = unsafe slots[slot] else { return }
    let isForObserver = unsafe entry._withUnsafeGuaranteedRef { socket in
      guard socket.generation == UInt32(truncatingIfNeeded: key >> 32) else { return false }
      // Sound: `deliver` only queues the waiting task, if any, so the socket is not released meanwhile.
      return socket.deliver(Readiness(rawValue: UInt8(truncatingIfNeeded: bits)))
    }
    if isForObserver {
      let socket = unsafe entry.takeUnretainedValue()
      socket.observer?.socketIsReady(socket)
    }
  }

  private var sockets: [Socket] { unsafe slots.compactMap { unsafe $0?.takeUnretainedValue() } }

  deinit {
    while let entry = unsafe slots.popLast() { unsafe entry?.release() }
  }

  func updateNow() {
    turn &+= 1
    turnBegan = SystemClock.monotonicInstant()
    now = MonotonicTime(turnBegan)
  }

  /// Returns how long the loop may wait for events: -1 without a limit, 0 if activities or held-back events wait.
  func millisecondsToNextDeadline() -> Int32 {
    pendingActivities.isEmpty && heldBack.isEmpty ? wheel.millisecondsToNext(from: now) : 0
  }

  /// Adds `bits` to the readiness of the socket after the next poll for events (`Socket.holdBackReading`).
  func deliverInNextTurn(_ bits: Readiness, to socket: Socket) {
    heldBack.append((socket, bits))
  }

  var hasHeldBackReadiness: Bool { !heldBack.isEmpty }

  /// Delivers the readiness that was held back.
  func deliverHeldBack() {
    let deliveries = heldBack
    heldBack.removeAll(keepingCapacity: true)
    for (socket, bits) in deliveries where socket.isOpen {
      if socket.deliver(bits) { socket.observer?.socketIsReady(socket) }
    }
  }

  /// Handles the timer entries whose deadlines have passed.
  func expire() {
    wheel.advance(to: now, &due)
    guard !due.isEmpty else { return }
    for entry in due { entry.expired() }
    due.removeAll(keepingCapacity: true)
  }

  /// Parks every connection that waits for its next request, because memory is short. Each releases its task and
  /// buffers (`Wake.park`).
  public func parkIdle() {
    idle.resumeAll(.park)
  }

  func beginDraining() {
    guard !isDraining else { return }
    isDraining = true
    for socket in sockets { socket.observer?.workerIsDraining() }
    idle.resumeAll(.draining)
  }

  /// Aborts every open socket, so that the tasks that use them end.
  func abortAll() {
    for socket in sockets { socket.abort() }
  }

  func stop() {
    isStopped = true
  }

  /// Arms `timer` to call `owner` after `time`. For an object that is not a waiting task, e.g. an idle upstream
  /// connection. While the timer is armed, a further call moves the deadline and must pass the same owner.
  public func arm(_ timer: Timer, for owner: any TimerOwner, after time: Milliseconds) {
    if timer.owner == nil { timer.owner = owner }
    wheel.arm(timer, at: deadline(after: time))
  }

  /// Arms `entry` to expire after `time`. The caller keeps the entry alive while it is armed.
  public func arm(_ entry: TimerEntry, after time: Milliseconds) {
    wheel.arm(entry, at: deadline(after: time))
  }

  /// Cancels the deadline of the entry, if it is armed.
  public func disarm(_ entry: TimerEntry) {
    wheel.disarm(entry)
  }

  /// Cancels the deadline and releases the timer's owner.
  public func disarm(_ timer: Timer) {
    timer.owner = nil
    wheel.disarm(timer)
  }
}

/// The reason why a connect failed.
public enum ConnectError: Error, Equatable, Sendable {
  /// The deadline passed.
  case timedOut
  /// A system call failed, or the peer refused the connection.
  case failed(IOError)
  /// The client for which the connection was opened has disconnected.
  case clientDisconnected
}

/// Work that runs as a task of its worker.
public protocol Activity: AnyObject {
  /// The body of the task.
  func run() async
}

/// A timer that calls its owner when its deadline has passed.
public final class Timer: TimerEntry {
  /// Retained only while armed. A weak reference would slow down every use of the owner.
  fileprivate var owner: (any TimerOwner)?

  /// Creates a timer that is not armed.
  public override init() {}

  /// Calls the owner and drops the reference to it.
  public override func expired() {
    let owner = owner
    self.owner = nil
    owner?.timerExpired()
  }
}

/// An object that a `Timer` calls.
public protocol TimerOwner: AnyObject {
  /// Called when the timer's deadline has passed; the timer is no longer armed.
  func timerExpired()
}
