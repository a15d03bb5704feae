internal import FoundationEssentials
internal import Telemetry

/// The response of `/readyz`: it states for an orchestrator whether the process can serve requests, and if not, why.
struct Readiness: Encodable, Sendable {
  /// One condition of readiness.
  struct Check: Encodable, Sendable {
    let name: String
    let ok: Bool
    /// The problem; `nil` if the condition is met.
    let detail: String?
  }

  let ready: Bool
  let checks: [Check]
  /// The availability of a store in another process or on a disk; `nil` for a store in memory. It is no condition of
  /// readiness: most requests need no store, and all replicas of a shared store would leave the load balancer at once.
  let store: Check?

  /// - Parameters:
  ///   - stalledLoops: The number of loops that have been stalled for more than a second.
  ///   - store: The operations of a store in another process or on a disk; `nil` for a store in memory.
  ///   - upstreamProblem: The reason why the upstream does not accept connections; `nil` if it does.
  init(_ state: ProcessStatus.State, stalledLoops: Int, store: StoreActivitySeries?, upstreamProblem: String?) {
    func check(_ name: String, _ detail: String?) -> Check { Check(name: name, ok: detail == nil, detail: detail) }
    let phase: String? =
      switch state.phase {
      case .starting: "the process is starting"
      case .serving: nil
      case .draining: "the process is draining"
      }
    let stalled = stalledLoops == 0 ? nil : "\(stalledLoops) of \(state.loops.count) event loops are stalled"
    let policy = state.policy
    let memory =
      policy.hasMemoryStore && policy.replicas > 1
      ? "\(policy.replicas) replicas cannot share a store in the memory of one" : nil
    checks = [
      check("serving", phase), check("workers", stalled), check("upstream", upstreamProblem), check("store", memory),
    ]
    ready = checks.allSatisfy(\.ok)
    self.store = store.map { check($0.engine, $0.outage) }
  }

  /// One line of JSON.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Encoding strings and booleans does not fail.
    return [UInt8]((try? encoder.encode(self)) ?? Data()) + [UInt8(ascii: "\n")]
  }
}
