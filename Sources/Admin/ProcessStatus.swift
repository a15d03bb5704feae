public import Policy
public import Reactor
internal import Synchronization
public import Telemetry

/// What the admin listener tells about the running process. Set by whoever runs it, read on the admin's thread.
public final class ProcessStatus: Sendable {
  /// Where the process is between start and end.
  public enum Phase: Sendable {
    case starting
    case serving
    case draining
  }

  struct State: Sendable {
    var phase = Phase.starting
    var policy: PolicyFacts
    var loops: [EventLoop] = []
  }

  /// A loop whose turn takes longer is stalled: a thousand times what a busy turn takes.
  static let stallMilliseconds: UInt64 = 1000

  /// Of the program.
  public let version: String
  public let metrics: MetricsRegistry
  /// Milliseconds since 1970.
  public let startTime: Int64
  private let state: Mutex<State>

  /// - Parameter startTime: when the process started, in milliseconds since 1970.
  public init(version: String, metrics: MetricsRegistry, policy: Policy, startTime: Int64) {
    self.version = version
    self.metrics = metrics
    self.startTime = startTime
    state = Mutex(State(policy: PolicyFacts(policy)))
  }

  /// The gateway accepts; `loops` in the order of the metrics' workers.
  public func started(_ loops: [EventLoop]) {
    state.withLock { state in
      state.loops = loops
      if state.phase == .starting { state.phase = .serving }
    }
  }

  /// A reload took effect.
  public func adopted(_ policy: Policy) {
    let facts = PolicyFacts(policy)
    state.withLock { $0.policy = facts }
  }

  /// From now on the process is not ready.
  public func beginDraining() {
    state.withLock { $0.phase = .draining }
  }

  var current: State { state.withLock { $0 } }

  /// Notes in the metrics which loops have not turned for a second, and returns how many.
  ///
  /// Looked at when somebody asks, so that an idle process need not watch itself.
  /// - Parameter now: monotonic milliseconds.
  func markStalledLoops(now: UInt64) -> Int {
    var stalled = 0
    for (loop, worker) in zip(current.loops, metrics.workers) {
      let isStalled = loop.stalledMilliseconds(at: now) > ProcessStatus.stallMilliseconds
      worker.setStalled(isStalled)
      if isStalled { stalled += 1 }
    }
    return stalled
  }
}
