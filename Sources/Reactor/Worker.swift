import CLinux

/// One event loop with everything that lives on it.
///
/// The actor is its loop's serial executor, so the compiler checks that nothing of it is touched from elsewhere.
public actor Worker {
  public nonisolated let loop: EventLoop
  public nonisolated let index: Int
  public nonisolated let connections = ConnectionCounter()
  public let poller: Poller
  /// The objects that the worker's owner keeps on it: the proxy with its pool, a handler.
  private var residents: [AnyObject] = []

  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// Throws when the process has no descriptors left.
  public init(index: Int) throws(IOError) {
    let loop = try EventLoop()
    self.loop = loop
    self.index = index
    poller = Poller(loop)
  }

  /// Runs the loop on a thread of its own.
  public nonisolated func start(name: String) throws(IOError) {
    try Thread.start(name) { self.loop.run(self) }
  }

  /// Runs the loop on the calling thread, until `stop`.
  public nonisolated func runHere() {
    loop.run(self)
  }

  /// Runs `body` on this worker, e.g. to build what is to live on it.
  public func perform<Failure: Error>(_ body: @Sendable (isolated Worker) throws(Failure) -> Void) throws(Failure) {
    try body(self)
    startPending()
  }

  /// Keeps something on this worker for as long as it lives.
  public func keep(_ resident: AnyObject) {
    residents.append(resident)
  }

  /// The kept object of this type.
  public func resident<Resident: AnyObject>(_: Resident.Type) -> Resident? {
    residents.lazy.compactMap { $0 as? Resident }.first
  }

  /// Starts an activity as a task of this worker; it runs at once, until its first wait.
  public func run(_ activity: any Activity) {
    Task.immediate { await self.perform(activity) }
  }

  private func perform(_ activity: any Activity) async {
    await activity.run()
  }

  func startPending() {
    while !poller.pending.isEmpty {
      let activities = poller.pending
      poller.pending = []
      for activity in activities { run(activity) }
    }
  }

  /// Registers an accepted descriptor and hands the socket to `acceptor`'s owner.
  func adopt(_ descriptor: Int32, _ peer: Address, for listener: Int) {
    guard let acceptor = acceptors[listener] else { return cl_close(descriptor) }
    acceptor.adopt(descriptor, peer)
    startPending()
  }

  private var acceptors: [Int: Acceptor] = [:]
  private var prepared: [Acceptor] = []

  /// Left for upstream connections and logs when descriptors run out.
  public static let descriptorReserve = 64

  /// Accepts connections of `listener` from now on; `accepted` runs on this worker for each.
  ///
  /// - Parameters:
  ///   - reserve: descriptors that are left to others; accepting pauses when there are no more.
  ///   - paused: called when accepting pauses, and when it continues.
  public func accept(
    _ listener: ListeningSocket, group: WorkerGroup, reserve: Int = Worker.descriptorReserve,
    paused: @escaping (Bool) -> Void = { _ in }, accepted: @escaping (Socket, Address) -> Void
  ) throws(IOError) {
    run(try acceptor(of: listener, group: group, reserve: reserve, paused: paused, accepted: accepted))
  }

  /// The same, but nothing is accepted here until `beginAccepting`: what other workers of the group accept for this one
  /// is taken, so that the first of them can begin when each is ready for that.
  public func prepareAccepting(
    _ listener: ListeningSocket, group: WorkerGroup, reserve: Int = Worker.descriptorReserve,
    paused: @escaping (Bool) -> Void = { _ in }, accepted: @escaping (Socket, Address) -> Void
  ) throws(IOError) {
    prepared.append(
      try acceptor(of: listener, group: group, reserve: reserve, paused: paused, accepted: accepted))
  }

  /// Accepts on the listeners that were prepared.
  public func beginAccepting() {
    for acceptor in prepared { run(acceptor) }
    prepared = []
  }

  private func acceptor(
    of listener: ListeningSocket, group: WorkerGroup, reserve: Int, paused: @escaping (Bool) -> Void,
    accepted: @escaping (Socket, Address) -> Void
  ) throws(IOError) -> Acceptor {
    let acceptor = try Acceptor(
      listener, worker: self, poller: poller, group: group, reserve: reserve, paused: paused, accepted: accepted)
    acceptors[listener.id] = acceptor
    return acceptor
  }

  /// Accepts what the kernel has already queued, then closes the listeners.
  ///
  /// Connections that other workers have accepted for this one are still taken, until `stop`.
  public func stopAccepting() {
    for acceptor in acceptors.values { acceptor.close() }
    startPending()
  }

  /// Finishes what is in progress and begins nothing new.
  public func drain() {
    poller.beginDraining()
  }

  public var openSockets: Int { poller.openSockets }

  /// Breaks what is left.
  public func abortConnections() {
    poller.abortAll()
  }

  /// Ends the loop after this turn's jobs.
  public func stop() {
    // They refer to this worker.
    acceptors = [:]
    prepared = []
    poller.stop()
  }
}
