import Telemetry
import Time

extension WorkerMetrics {
  /// Counts a decision with these properties. The client is listed unless the caller says otherwise.
  func decide(
    _ decision: DecisionKind, at endpoint: DecisionEndpoint = .token, client: String?, isListed: Bool = true,
    rule: String? = nil, findings: [String] = [], time: Timestamp = 1_795_000_000_000, peer: String = "192.0.2.1",
    upstreamStatus: Int? = nil
  ) {
    decided(
      DecisionRecord(
        time: time, endpoint: endpoint, client: client, decision: decision, rule: rule, status: 200, mode: "observe",
        findings: findings, upstreamStatus: upstreamStatus, durationNanoseconds: 1, peer: peer, policyVersion: "v1"),
      isListed: isListed)
  }
}
