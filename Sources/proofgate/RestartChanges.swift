import Policy

/// The changes in a new policy that a running process cannot adopt.
struct RestartChanges {
  /// The reason why the policy cannot be adopted at all; `nil` if it can.
  let refusal: String?
  /// The settings that take effect only at the next start; `nil` if there are none.
  let warning: String?

  init(from old: Policy, to new: Policy) {
    // The workers' connections lead to the old upstream, so only half of the policy would be in force.
    refusal =
      old.upstream.origin == new.upstream.origin
      ? nil : "`upstream.url` cannot change while the gateway runs; restart it to reach \(new.upstream.origin)"
    var settings: [String] = []
    if old.gateway.listeners.map(\.address) != new.gateway.listeners.map(\.address)
      || old.gateway.listeners.map(\.proxyProtocol) != new.gateway.listeners.map(\.proxyProtocol)
      || old.gateway.listeners.map({ $0.tls == nil }) != new.gateway.listeners.map({ $0.tls == nil })
    {
      settings.append("`gateway.listeners`")
    }
    if old.gateway.admin != new.gateway.admin { settings.append("`gateway.admin`") }
    if old.gateway.workers != new.gateway.workers { settings.append("`gateway.workers`") }
    if case .memory(let old) = old.gateway.store, case .memory(let new) = new.gateway.store, old != new {
      settings.append("`gateway.store`")
    }
    warning =
      settings.isEmpty
      ? nil : "\(settings.joined(separator: ", ")) changed and will be used after a restart; the rest is adopted"
  }
}
