import OAuth
import Policy
import Rollout

/// The facts about a policy that the admin listener shows. They are copied, so that the listener has no access to the
/// secrets in the policy.
struct PolicyFacts: Sendable {
  let version: String
  let issuer: String
  /// The `url` of the upstream.
  let upstream: String
  let mode: EnforcementMode
  let unknownClients: UnknownClients
  let clientCount: Int
  /// The number of clients in observe mode.
  let observedClientCount: Int
  /// The ids of the clients, and which of them are enforced.
  let clients: ReadinessReport.ListedClients
  /// The URL of the list of rules. Those of the pages on the rules begin with it.
  let rulesURL: String
  /// The names of `admin_hosts`.
  let adminHosts: [String]
  /// The number of gateways that serve this policy together.
  let replicas: Int
  /// True if the store is in the memory of this process.
  let hasMemoryStore: Bool

  init(_ policy: Policy) {
    version = policy.version
    issuer = policy.gateway.issuer
    upstream = policy.upstream.urls
    mode = policy.mode
    unknownClients = policy.unknownClients
    clientCount = policy.clients.count
    observedClientCount = policy.clients.values.count { $0.mode == .observe }
    clients = ReadinessReport.ListedClients(
      policy.clients.values.map {
        ReadinessReport.ListedClient(
          id: $0.id.rawValue, isEnforced: $0.mode == .enforce, dropsCredentials: $0.dropsCredentials)
      })
    rulesURL = policy.gateway.rulesURL
    adminHosts = policy.gateway.adminHosts
    replicas = policy.gateway.replicas
    hasMemoryStore = if case .memory = policy.gateway.store { true } else { false }
  }
}
