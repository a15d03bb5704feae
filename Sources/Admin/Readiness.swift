internal import FoundationEssentials
internal import Telemetry

/// The content of a response to `/readyz`. An orchestrator learns from it whether the process can serve requests and,
/// if not, why. The names of the properties of this type and of `Check` are the names of the JSON members.
struct Readiness: Encodable, Sendable {
  /// The result for one condition of readiness.
  struct Check: Encodable, Sendable {
    let name: String
    /// True if the condition is met.
    let ok: Bool
    /// The problem; `nil` if the condition is met.
    let detail: String?
  }

  /// The state of one of several addresses of the upstream. The upstream is ready if one of them is.
  struct UpstreamAddress: Encodable, Equatable, Sendable {
    let address: String
    /// True if the address accepts connections.
    let ok: Bool
    /// The problem; `nil` without one.
    let detail: String?
    /// False while requests avoid the address, because it has failed.
    let inService: Bool

    enum CodingKeys: String, CodingKey {
      case address
      case ok
      case detail
      case inService = "in_service"
    }
  }

  /// True if all conditions are met.
  let ready: Bool
  /// The addresses of the upstream; `nil` if it has only one.
  let addresses: [UpstreamAddress]?
  /// The conditions of readiness. The check `store` fails if several replicas need a common store, but the store is in
  /// the memory of one process.
  let checks: [Check]
  /// The availability of a store in another process or on a disk; `nil` for a store in memory. An outage of the store
  /// does not make the process unready. Most requests need no store, and all replicas that share the store would become
  /// unready together, and leave the load balancer at the same time.
  let store: Check?

  /// - Parameters:
  ///   - stalledLoops: The number of loops that have been stalled for more than a second.
  ///   - store: The operations of a store in another process or on a disk; `nil` for a store in memory.
  ///   - upstreamProblem: The reason why the upstream does not accept connections; `nil` if it does.
  ///   - addresses: The states of the upstream's addresses.
  init(
    _ state: ProcessStatus.State, stalledLoops: Int, store: StoreActivitySeries?, upstreamProblem: String?,
    addresses: [UpstreamProbeResult.AddressState] = []
  ) {
    self.addresses =
      addresses.count < 2
      ? nil
      : addresses.map {
        UpstreamAddress(
          address: $0.name, ok: $0.problem == nil, detail: $0.problem, inService: !$0.isOutOfService)
      }
    func check(_ name: String, _ detail: String?) -> Check { Check(name: name, ok: detail == nil, detail: detail) }
    let phaseProblem: String? =
      switch state.phase {
      case .starting: "the process is starting"
      case .serving: nil
      case .draining: "the process is draining"
      }
    let stallProblem = stalledLoops == 0 ? nil : "\(stalledLoops) of \(state.loops.count) event loops are stalled"
    let policy = state.policy
    let storeSharingProblem =
      policy.hasMemoryStore && policy.replicas > 1
      ? "\(policy.replicas) replicas cannot share a store in the memory of one" : nil
    checks = [
      check("serving", phaseProblem), check("workers", stallProblem), check("upstream", upstreamProblem),
      check("store", storeSharingProblem),
    ]
    ready = checks.allSatisfy(\.ok)
    self.store = store.map { check($0.engine, $0.outage) }
  }

  /// The content as one line of JSON.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and booleans can always be encoded.
    return [UInt8]((try? encoder.encode(self)) ?? Data()) + [UInt8(ascii: "\n")]
  }
}
