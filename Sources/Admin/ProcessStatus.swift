public import Policy
public import Reactor
internal import Synchronization
public import Telemetry
public import Time

/// The state of the running process, which the admin listener shows. The main program changes it, and the admin thread
/// reads it.
public final class ProcessStatus: Sendable {
  /// The phase of the process's life.
  public enum Phase: Sendable {
    /// The gateway does not accept connections yet.
    case starting
    /// The gateway accepts connections.
    case serving
    /// The process finishes its requests and then ends. It is not ready for new requests.
    case draining
  }

  struct State: Sendable {
    var phase = Phase.starting
    var policy: PolicyFacts
    /// The event loops of the workers; empty until the gateway accepts connections.
    var loops: [EventLoop] = []
    /// The latest reload and its time; `nil` before the first one.
    var lastReload: (report: ReloadReport, time: Timestamp)?
    /// The time at which the policy in force was read, and the cause; `nil` for the start of the process.
    var loaded: (reason: ReloadReport.Reason?, time: Timestamp)
  }

  /// The duration of one turn above which an event loop counts as stalled. Even in a busy loop, a turn takes only about
  /// one millisecond.
  static let stallThreshold: Milliseconds = 1_000

  /// The version of the program.
  public let version: String
  /// The names and versions of the libraries that the program contains or uses.
  public let libraries: [String]
  /// The metrics of all workers.
  public let metrics: MetricsRegistry
  /// The start of the process.
  public let startTime: Timestamp
  /// The reloads for which programs ask the admin listener.
  public let reloads = ReloadRequests()
  private let state: Mutex<State>

  /// Creates the status of a process in the phase `starting`.
  ///
  /// - Parameters:
  ///   - libraries: The names and versions of the libraries that the program contains or uses.
  ///   - startTime: The start of the process.
  public init(
    version: String, libraries: [String], metrics: MetricsRegistry, policy: Policy, startTime: Timestamp
  ) {
    self.version = version
    self.libraries = libraries
    self.metrics = metrics
    self.startTime = startTime
    state = Mutex(State(policy: PolicyFacts(policy), loaded: (nil, startTime)))
  }

  /// Records that the gateway accepts connections.
  ///
  /// - Parameter loops: The event loops of the workers, in the order of `metrics.workers`.
  public func beginServing(_ loops: [EventLoop]) {
    state.withLock { state in
      state.loops = loops
      if state.phase == .starting { state.phase = .serving }
    }
  }

  /// Records that a reload has replaced the policy by this one.
  public func replacePolicy(_ policy: Policy) {
    let facts = PolicyFacts(policy)
    state.withLock { $0.policy = facts }
  }

  /// Records the result of a reload.
  public func recordReload(_ report: ReloadReport, at time: Timestamp) {
    state.withLock { state in
      state.lastReload = (report, time)
      if report.hasTakenEffect { state.loaded = (report.reason, time) }
    }
  }

  /// Records that the process finishes its requests and will then end.
  public func beginDraining() {
    state.withLock { $0.phase = .draining }
  }

  var current: State { state.withLock { $0 } }

  /// Returns true if an event loop is stalled: its current turn has taken longer than `stallThreshold`.
  public func hasStalledLoop(at now: MonotonicTime) -> Bool {
    current.loops.contains { $0.turnDuration(at: now) > ProcessStatus.stallThreshold }
  }

  /// Records in the metrics which event loops are stalled: their current turn has taken longer than `stallThreshold`.
  /// Returns the number of these loops.
  ///
  /// The admin handler calls this function for each request to `/metrics`, `/readyz` or the status page, so no timer has
  /// to call it.
  func recordStalledLoops(now: MonotonicTime) -> Int {
    var stalled = 0
    for (loop, worker) in zip(current.loops, metrics.workers) {
      let isStalled = loop.turnDuration(at: now) > ProcessStatus.stallThreshold
      worker.setStalled(isStalled)
      if isStalled { stalled += 1 }
    }
    return stalled
  }
}
