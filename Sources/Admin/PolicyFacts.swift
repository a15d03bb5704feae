import Policy

/// What the admin listener shows of a policy: numbers and names, so that no secret is within its reach.
struct PolicyFacts: Sendable {
  let version: String
  let issuer: String
  let upstream: String
  let mode: EnforcementMode
  let unknownClients: UnknownClients
  let clients: Int
  /// Clients that are observed.
  let observedClients: Int
  let replicas: Int
  let remembersAlone: Bool

  init(_ policy: Policy) {
    version = policy.version
    issuer = policy.gateway.issuer
    upstream = policy.upstream.origin.description
    mode = policy.mode
    unknownClients = policy.unknownClients
    clients = policy.clients.count
    observedClients = policy.clients.values.count { $0.mode == .observe }
    replicas = policy.gateway.replicas
    remembersAlone = if case .memory = policy.gateway.store { true } else { false }
  }
}
