internal import FoundationEssentials

/// The answer to the question of an orchestrator if the process may get requests, with the reasons against it.
struct Readiness: Encodable, Sendable {
  struct Check: Encodable, Sendable {
    let name: String
    let ok: Bool
    /// What is wrong.
    let detail: String?
  }

  let ready: Bool
  let checks: [Check]

  /// - Parameters:
  ///   - stalledLoops: how many loops have not turned for a second.
  ///   - upstreamProblem: why the upstream does not accept connections.
  init(_ state: ProcessStatus.State, stalledLoops: Int, upstreamProblem: String?) {
    func check(_ name: String, _ detail: String?) -> Check { Check(name: name, ok: detail == nil, detail: detail) }
    let phase: String? =
      switch state.phase {
      case .starting: "the process is starting"
      case .serving: nil
      case .draining: "the process is draining"
      }
    let stalled = stalledLoops == 0 ? nil : "\(stalledLoops) of \(state.loops.count) have not turned for a second"
    let policy = state.policy
    let memory =
      policy.remembersAlone && policy.replicas > 1
      ? "\(policy.replicas) replicas cannot share what one keeps in memory" : nil
    checks = [
      check("serving", phase), check("workers", stalled), check("upstream", upstreamProblem), check("store", memory),
    ]
    ready = checks.allSatisfy(\.ok)
  }

  /// One line of JSON.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Texts and truth values always encode.
    return [UInt8]((try? encoder.encode(self)) ?? Data()) + [UInt8(ascii: "\n")]
  }
}
