import Policy

/// The facts of a policy that the admin listener shows. They are only numbers and names, so that the listener has no
/// access to secrets.
struct PolicyFacts: Sendable {
  let version: String
  let issuer: String
  let upstream: String
  let mode: EnforcementMode
  let unknownClients: UnknownClients
  let clients: Int
  /// The number of clients in observe mode.
  let observedClients: Int
  let replicas: Int
  /// True if the store is in the memory of this process.
  let hasMemoryStore: Bool

  init(_ policy: Policy) {
    version = policy.version
    issuer = policy.gateway.issuer
    upstream = policy.upstream.origin.description
    mode = policy.mode
    unknownClients = policy.unknownClients
    clients = policy.clients.count
    observedClients = policy.clients.values.count { $0.mode == .observe }
    replicas = policy.gateway.replicas
    hasMemoryStore = if case .memory = policy.gateway.store { true } else { false }
  }
}
