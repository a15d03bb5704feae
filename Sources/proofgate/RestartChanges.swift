import Policy

/// The changes in a new policy that a reload cannot apply, because they need a restart of the process.
struct RestartChanges {
  /// The reason why the running process cannot use the new policy at all; `nil` if it can.
  let refusal: String?
  /// A warning that lists the changed settings of which the running process still uses the old values; `nil` if there
  /// are none.
  let warning: String?

  init(from old: Policy, to new: Policy) {
    // The workers' connections lead to the old upstream, so the new policy would not apply to all requests.
    refusal =
      old.upstream.urls == new.upstream.urls
      ? nil : "`upstream.url` cannot change while the gateway runs; restart it to reach \(new.upstream.urls)"
    var settings: [String] = []
    if old.gateway.listeners.map(\.address) != new.gateway.listeners.map(\.address)
      || old.gateway.listeners.map(\.unixSocket) != new.gateway.listeners.map(\.unixSocket)
      || old.gateway.listeners.map(\.proxyProtocol) != new.gateway.listeners.map(\.proxyProtocol)
      || old.gateway.listeners.map({ $0.tls == nil }) != new.gateway.listeners.map({ $0.tls == nil })
    {
      settings.append("`gateway.listeners`")
    }
    if old.resources.all.map(\.check) != new.resources.all.map(\.check) { settings.append("`resources[].check`") }
    if old.gateway.admin != new.gateway.admin { settings.append("`gateway.admin`") }
    if old.gateway.workers != new.gateway.workers { settings.append("`gateway.workers`") }
    if old.gateway.store != new.gateway.store { settings.append("`gateway.store`") }
    if old.gateway.storeEpochRule != new.gateway.storeEpochRule { settings.append("`gateway.store_epoch`") }
    if old.gateway.logSpool != new.gateway.logSpool || old.gateway.logSpoolSize != new.gateway.logSpoolSize {
      settings.append("`gateway.log_spool`")
    }
    warning =
      settings.isEmpty
      ? nil : "\(settings.joined(separator: ", ")) changed and will be used after a restart; the rest is adopted"
  }
}
