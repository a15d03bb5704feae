import Policy
import Rollout
import Telemetry
import Time

/// All that the status page shows. The page, its JSON and its text are written from one value of this type, so that they
/// cannot differ. The value contains no secrets.
///
/// The names of the properties in snake case are the names of the JSON members.
struct StatusReport: Encodable, Sendable {
  /// A number for each outcome of a decision.
  struct Outcomes: Encodable, Equatable, Sendable {
    /// Requests that no rule refused.
    var passed: UInt64 = 0
    /// Requests that a rule refused.
    var refused: UInt64 = 0
    /// Requests of observed clients that a rule would have refused.
    var wouldRefuse: UInt64 = 0
    /// Observed redemptions for which not all rules could be evaluated.
    var notObservable: UInt64 = 0

    var total: UInt64 { passed + refused + wouldRefuse + notObservable }

    mutating func add(_ count: UInt64, _ decision: DecisionKind) {
      switch decision {
      case .forward: passed += count
      case .reject: refused += count
      case .wouldReject: wouldRefuse += count
      case .notObservable: notObservable += count
      }
    }

    static func += (left: inout Outcomes, right: Outcomes) {
      left.passed += right.passed
      left.refused += right.refused
      left.wouldRefuse += right.wouldRefuse
      left.notObservable += right.notObservable
    }
  }

  /// The program and its process.
  struct Program: Encodable, Sendable {
    let version: String
    let libraries: [String]
    let phase: String
    let started: StatusTime
    let workers: Int
    let stalledWorkers: Int
  }

  /// The policy in force, and the latest reload.
  struct Policy: Encodable, Sendable {
    /// The time and cause of reading a policy: `start`, or a `ReloadReport.Reason`.
    struct Load: Encodable, Sendable {
      let time: StatusTime
      let reason: String
    }

    /// The latest reload.
    struct Reload: Encodable, Sendable {
      let time: StatusTime
      let reason: String
      let result: ReloadReport.Result
      let changes: [String]
      let settings: [String]
      let warnings: [String]
      let errors: [String]
    }

    let version: String
    let issuer: String
    let upstream: String
    let mode: String
    let unknownClients: String
    let clients: Int
    let observedClients: Int
    /// The time at which the policy in force was read.
    let loaded: Load
    let lastReload: Reload?
    let reloads: UInt64
    let refusedReloads: UInt64
  }

  /// The decisions of one minute.
  struct Minute: Encodable, Sendable {
    let start: StatusTime
    let outcomes: Outcomes
  }

  /// The decisions of one endpoint since the start of the process.
  struct Endpoint: Encodable, Sendable {
    let endpoint: String
    let outcomes: Outcomes
  }

  /// The decisions.
  struct Decisions: Encodable, Sendable {
    /// The decisions since the start of the process.
    let total: Outcomes
    /// The decisions of the latest minutes.
    let recent: Outcomes
    /// The number of the latest minutes.
    let recentMinutes: Int
    /// Those of the latest minutes that have decisions, in order.
    let minutes: [Minute]
    /// The endpoints with decisions.
    let endpoints: [Endpoint]
  }

  /// The requests that one rule refused first, or would have refused first.
  struct Refusal: Encodable, Sendable {
    let rule: String
    /// The URL of the page that explains the rule.
    let url: String
    let refused: UInt64
    let wouldRefuse: UInt64
    /// The time of the last of these requests.
    let last: StatusTime
  }

  /// Durations since the start of the process.
  struct Latency: Encodable, Sendable {
    /// A handling of requests (`pass`, `forward`, `answer`, `refuse`), `upstream`, or `store`.
    let name: String
    let count: UInt64
    /// Estimates in milliseconds; `nil` if nothing was measured.
    let median: Double?
    let p95: Double?
    let p99: Double?
    /// The number of durations in each bucket of the metrics.
    let buckets: [UInt64]
  }

  /// A number of events of one kind.
  struct Count: Encodable, Sendable {
    let name: String
    let count: UInt64
  }

  /// The requests and connections since the start of the process.
  struct Traffic: Encodable, Sendable {
    /// The requests by the way in which they were handled.
    let requests: [Count]
    let connections: UInt64
    let acceptedConnections: UInt64
    let upstreamConnections: UInt64
    /// The requests to which the upstream sent no complete response, by kind, without those that did not occur.
    let upstreamErrors: [Count]
    let droppedLogLines: UInt64
    let failedLogWrites: UInt64
  }

  /// The store.
  struct Store: Encodable, Sendable {
    /// The entries of one kind.
    struct Kind: Encodable, Sendable {
      let kind: String
      let entries: Int
      let bytes: Int
      let share: Int?
      let evicted: UInt64
      let refused: UInt64
    }

    /// `memory`, `file` or `redis`.
    let engine: String
    let epoch: String?
    /// The reason why the store does not answer; `nil` if it does.
    let outage: String?
    /// The operations that failed, by reason, without those that did not occur.
    let failures: [Count]
    let kinds: [Kind]
    /// True if the entries are counted in the background.
    let isCountedInBackground: Bool
    /// The time of the latest count in the background; `nil` without one.
    let counted: StatusTime?
    /// The reason why the latest count failed.
    let countProblem: String?
  }

  /// A certificate that the gateway presents.
  struct Certificate: Encodable, Sendable {
    let listener: String
    let name: String
    let fingerprint: String
    let expires: StatusTime
  }

  /// The maximum number of rules.
  static let maximumRefusals = 200
  /// The number of clients up to which clients without requests are included.
  static let maximumClients = 1000

  /// The minute in which the report was written. All else that depends on the time is relative to it, so that reports of
  /// the same minute and state are equal.
  let time: StatusTime
  let program: Program
  let readiness: Readiness
  let policy: Policy
  let decisions: Decisions
  /// The URL of the list of rules. Those of the pages on the rules begin with it.
  let rulesURL: String
  /// The rules by their numbers of requests, the most frequent first.
  let refusals: [Refusal]
  /// The clients, as in `proofgate readiness`.
  let clients: [ClientReadiness]
  /// The number of clients of the policy without requests that are left out.
  let omittedClients: Int
  /// The number of requests of clients that are left out.
  let omittedRequests: Int
  let latency: [Latency]
  let traffic: Traffic
  let store: Store
  let certificates: [Certificate]
}
