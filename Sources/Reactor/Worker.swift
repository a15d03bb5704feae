import CLinux

/// One event loop and the objects that are used only on it.
///
/// The actor uses the loop as its serial executor, so the compiler checks that its state is not touched from
/// elsewhere.
public actor Worker {
  /// The event loop.
  public nonisolated let loop: EventLoop
  /// The index among the workers of the process, from 0.
  public nonisolated let index: Int
  /// The client connections of this worker.
  public nonisolated let connections = ConnectionCounter()
  /// The I/O state of this worker.
  public let poller: Poller
  /// Objects that live as long as the worker, e.g. the `ProxyWorker`.
  private var residents: [AnyObject] = []

  /// The event loop.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

  /// Creates the loop; `start` or `runOnCurrentThread` runs it. Throws if the process is out of descriptors, or has no
  /// memory for the reserve of buffers.
  public init(index: Int) throws(IOError) {
    let loop = try EventLoop()
    self.loop = loop
    self.index = index
    poller = Poller(loop)
    if poller.buffers.isShort { throw .noMemory }
  }

  /// Runs the loop on a new thread. Throws if no thread can be created.
  public nonisolated func start(name: String) throws(IOError) {
    try OSThread.start(name) { self.loop.run(self) }
  }

  /// Runs the loop on the calling thread, until `stop`.
  public nonisolated func runOnCurrentThread() {
    loop.run(self)
  }

  /// Runs `body` on this worker, e.g. to create the objects that live on it.
  public func perform<Failure: Error>(_ body: @Sendable (isolated Worker) throws(Failure) -> Void) throws(Failure) {
    try body(self)
    startPending()
  }

  /// Runs `body` on this worker soon, without waiting for it. Called from any thread.
  public nonisolated func post(_ body: @escaping @Sendable (isolated Worker) -> Void) {
    Task.immediate { await self.perform(body) }
  }

  /// Keeps `resident` alive as long as this worker.
  public func keep(_ resident: AnyObject) {
    residents.append(resident)
  }

  /// Returns the kept object of this type, or `nil`.
  public func resident<Resident: AnyObject>(_: Resident.Type) -> Resident? {
    for resident in residents {
      if let resident = resident as? Resident { return resident }
    }
    return nil
  }

  /// Starts an activity as a task of this worker; it runs immediately until its first wait.
  public func run(_ activity: any Activity) {
    Task.immediate { await self.perform(activity) }
    // The next activity does not work on the request that this one may have begun.
    loop.currentRequest = 0
  }

  private func perform(_ activity: any Activity) async {
    await activity.run()
  }

  /// Starts the activities that `Poller.start` has collected, until none is left.
  func startPending() {
    while !poller.pendingActivities.isEmpty {
      let activities = poller.pendingActivities
      poller.pendingActivities = []
      for activity in activities { run(activity) }
    }
  }

  /// Registers a descriptor that another worker has accepted for this one, and passes the socket to the `onAccept`
  /// closure of the listener.
  func adopt(_ descriptor: Int32, _ peer: Address, for listenerID: Int) {
    guard let acceptor = acceptors.first(where: { $0.listener.id == listenerID }) else { return cl_close(descriptor) }
    acceptor.adopt(descriptor, peer)
    startPending()
  }

  /// The acceptors of this worker: at least one for each listener.
  private var acceptors: [Acceptor] = []
  /// The acceptors that `beginAccepting` starts.
  private var preparedAcceptors: [Acceptor] = []

  /// The number of descriptors reserved for upstream connections and logs when descriptors run out.
  public static let descriptorReserve = 64

  /// Starts to accept connections of `listener`; `onAccept` runs on this worker for each.
  ///
  /// - Parameters:
  ///   - reserve: the number of descriptors left to other uses. Accepting pauses while fewer descriptors are free.
  ///   - onPauseChange: called with true when accepting pauses and with false when it continues.
  public func accept(
    _ listener: ListeningSocket, group: WorkerGroup, reserve: Int = Worker.descriptorReserve,
    onPauseChange: @escaping (Bool) -> Void = { _ in }, onAccept: @escaping (Socket, Address) -> Void
  ) throws(IOError) {
    run(try acceptor(of: listener, group: group, reserve: reserve, onPauseChange: onPauseChange, onAccept: onAccept))
  }

  /// Like `accept`, but this worker accepts nothing itself until `beginAccepting`. It already adopts connections that
  /// other workers of the group accept for it. The caller prepares all workers before the first begins to accept.
  public func prepareAccepting(
    _ listener: ListeningSocket, group: WorkerGroup, reserve: Int = Worker.descriptorReserve,
    onPauseChange: @escaping (Bool) -> Void = { _ in }, onAccept: @escaping (Socket, Address) -> Void
  ) throws(IOError) {
    preparedAcceptors.append(
      try acceptor(of: listener, group: group, reserve: reserve, onPauseChange: onPauseChange, onAccept: onAccept))
  }

  /// Starts to accept on the prepared listeners.
  public func beginAccepting() {
    for acceptor in preparedAcceptors { run(acceptor) }
    preparedAcceptors = []
  }

  private func acceptor(
    of listener: ListeningSocket, group: WorkerGroup, reserve: Int, onPauseChange: @escaping (Bool) -> Void,
    onAccept: @escaping (Socket, Address) -> Void
  ) throws(IOError) -> Acceptor {
    let acceptor = try Acceptor(
      listener, worker: self, poller: poller, group: group, reserve: reserve, onPauseChange: onPauseChange,
      onAccept: onAccept)
    acceptors.append(acceptor)
    return acceptor
  }

  /// Accepts the connections that the kernel has already queued, as far as descriptors suffice, then closes the
  /// listeners.
  ///
  /// Connections that other workers have accepted for this one are still adopted, until `stop`.
  ///
  /// - Parameter left: the numbers of the listeners whose queued connections stay in the queue, because another process
  ///   has their sockets.
  public func stopAccepting(leaving left: Set<Int> = []) {
    for acceptor in acceptors {
      if left.contains(acceptor.listener.id) { acceptor.leave() } else { acceptor.close() }
    }
    startPending()
  }

  /// Begins to drain: requests in progress finish, and no new ones begin.
  public func drain() {
    poller.beginDraining()
  }

  /// The number of open sockets of this worker.
  public var openSockets: Int { poller.openSockets }

  /// Aborts the remaining connections.
  public func abortConnections() {
    poller.abortAll()
  }

  /// Ends the loop once no jobs are queued.
  public func stop() {
    // Acceptors refer to this worker, so a worker that kept them would never be freed.
    acceptors = []
    preparedAcceptors = []
    poller.stop()
  }
}
