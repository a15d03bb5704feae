import OAuth
public import Policy

/// The settings that differ between two policies, for the report of a reload.
///
/// Each row of each table is compared: a plain one by its value, and one with a custom reader by its entry in
/// ``ComparedSettings``. A test changes each row, so that none can be forgotten. Of secrets and of the content of files, the
/// lines say only that they changed.
public struct SettingChanges {
  /// One line for each changed setting, such as `gateway.limits.requests_per_address: 100 -> 200`.
  public private(set) var lines: [String] = []

  /// Compares two policies.
  ///
  /// - Parameter maximumClients: The number of clients that are compared; the first in alphabetical order.
  public init(from old: Policy, to new: Policy, maximumClients: Int) {
    compareGateway(old.gateway, new.gateway)
    compareUpstream(old.upstream, new.upstream)
    compare(PolicyEnforcement.table, "enforcement", old.enforcement, new.enforcement)
    compareRegistration(old.registration, new.registration)
    compareDocuments(old.clientDocuments, new.clientDocuments)
    compareResources(old.resources, new.resources)
    compareRoutes(old.routes, new.routes)
    compareClients(old.clients, new.clients, maximumClients)
  }

  private mutating func compareGateway(_ old: GatewaySettings, _ new: GatewaySettings) {
    compare(GatewaySettings.table, "gateway", old, new, ComparedSettings.gateway)
    compare(LimitSettings.table, "gateway.limits", old.limits, new.limits)
    compare(Branding.table, "gateway.branding", old.branding, new.branding, ComparedSettings.branding)
    compare(StrictTransport.table, "gateway.strict_transport_security", old.strictTransport, new.strictTransport)
    compare(AccessLogSettings.table, "gateway.access_log", old.accessLog, new.accessLog, ComparedSettings.accessLog)
    let before = Dictionary(old.listeners.map { ($0.address, $0) }) { first, _ in first }
    for listener in new.listeners {
      guard let earlier = before[listener.address] else { continue }
      let path = "gateway.listeners[\(listener.address)]"
      compare(ListenerSettings.table, path, earlier, listener, ComparedSettings.listener)
      compare(ListenerTLS.table, path + ".tls", earlier.tls, listener.tls, ComparedSettings.listenerTLS)
    }
  }

  private mutating func compareUpstream(_ old: UpstreamSettings, _ new: UpstreamSettings) {
    compare(UpstreamSettings.table, "upstream", old, new, ComparedSettings.upstream)
    compare(
      HealthCheckSettings.table, "upstream.health_check", old.healthCheck, new.healthCheck, ComparedSettings.healthCheck
    )
    compare(EndpointPaths.table, "upstream.endpoints", old.endpoints, new.endpoints, ComparedSettings.endpoints)
    compare(ComparedSettings.scopes, "upstream.scopes", old.scopes, new.scopes)
    compare(ComparedSettings.upstreamTLS, "upstream.tls", old.tls, new.tls)
  }

  private mutating func compareRegistration(_ old: RegistrationSettings?, _ new: RegistrationSettings?) {
    let table = RegistrationSettings.table
    guard compare(table, "registration", old, new, ComparedSettings.registration), let old, let new else { return }
    compareRules("registration", old.rules, new.rules)
  }

  private mutating func compareDocuments(_ old: ClientDocumentSettings?, _ new: ClientDocumentSettings?) {
    let table = ClientDocumentSettings.table
    guard compare(table, "client_documents", old, new, ComparedSettings.documents), let old, let new else { return }
    compareRules("client_documents", old.rules, new.rules)
  }

  private mutating func compareRules(_ path: String, _ old: UnlistedClientRules, _ new: UnlistedClientRules) {
    compare(
      UnlistedRedirects.table, path + ".redirects", old.redirects, new.redirects, ComparedSettings.unlistedRedirects)
    compare(ClientDenyList.table, path + ".deny", old.denied, new.denied, ComparedSettings.deny)
    compareUpstreamClient(path + ".upstream", old.upstream, new.upstream)
  }

  private mutating func compareUpstreamClient(_ path: String, _ old: UpstreamClient?, _ new: UpstreamClient?) {
    guard compare(UpstreamClient.table, path, old, new, ComparedSettings.upstreamClient) else { return }
    compare(ComparedSettings.scopes, path + ".scopes", old?.scopes, new?.scopes)
  }

  private mutating func compareResources(_ old: ResourceTable, _ new: ResourceTable) {
    addDifference("resources", .list(old.all.map(\.uri.text)), .list(new.all.map(\.uri.text)))
    for resource in new.all {
      guard let earlier = old.all.first(where: { $0.uri == resource.uri }) else { continue }
      let path = "resources[\(SettingChanges.shown(resource.uri.text))]"
      let (before, after) = (earlier.settings, resource.settings)
      compare(ResourceSettings.table, path, before, after, ComparedSettings.resource)
      compare(
        ResourceUpstream.table, path + ".upstream", before.upstream, after.upstream, ComparedSettings.resourceUpstream)
      compareUpstreamClient(path + ".upstream.client", before.upstream.client, after.upstream.client)
      let server = path + ".introspection"
      compare(ComparedSettings.resourceServer, server, before.introspection, after.introspection)
      guard let first = before.introspection, let second = after.introspection else { continue }
      compareUpstreamClient(server + ".upstream", first.upstream, second.upstream)
    }
  }

  private mutating func compareRoutes(_ old: [RouteSettings], _ new: [RouteSettings]) {
    addDifference("routes", .list(old.map(\.prefix)), .list(new.map(\.prefix)))
    for route in new {
      guard let earlier = old.first(where: { $0.prefix == route.prefix }) else { continue }
      let path = "routes[\(route.prefix)]"
      compare(RouteSettings.table, path, earlier, route, ComparedSettings.route)
      compare(
        HeaderChanges.table, path + ".request_headers", earlier.requestHeaders, route.requestHeaders,
        ComparedSettings.headerChanges)
      compare(
        HeaderChanges.table, path + ".response_headers", earlier.responseHeaders, route.responseHeaders,
        ComparedSettings.headerChanges)
    }
  }

  private mutating func compareClients(_ old: [ClientID: Client], _ new: [ClientID: Client], _ maximum: Int) {
    let ids = Set(old.keys).union(new.keys).sorted { $0.rawValue < $1.rawValue }
    for id in ids.prefix(maximum) {
      let path = "clients[\(SettingChanges.shown(id.rawValue))]"
      let (before, after) = (old[id]?.settings, new[id]?.settings)
      guard compare(ClientSettings.table, path, before, after, ComparedSettings.client) else { continue }
      compareUpstreamClient(path + ".upstream", before?.upstream, after?.upstream)
    }
  }

  // MARK: Lines

  /// Compares the rows of a table. Returns false if only one of the policies has the mapping, or neither.
  @discardableResult
  private mutating func compare<Root>(
    _ table: SettingTable<Root>, _ path: String, _ old: Root?, _ new: Root?, _ custom: ComparedSettings.Of<Root> = [:]
  ) -> Bool {
    guard let (old, new) = both(path, old, new) else { return false }
    for setting in table.settings {
      if setting.isPlain {
        let (before, after) = (setting.value(in: old), setting.value(in: new))
        guard before != after else { continue }
        lines.append("\(path).\(setting.key): \(text(before, setting)) -> \(text(after, setting))")
      } else if let value = custom[setting.key] {
        addDifference("\(path).\(setting.key)", value(old), value(new))
      }
    }
    return true
  }

  /// Compares the values of a mapping that the policy does not contain in the form of its table.
  private mutating func compare<Root>(_ custom: ComparedSettings.Of<Root>, _ path: String, _ old: Root?, _ new: Root?) {
    guard let (old, new) = both(path, old, new) else { return }
    for (key, value) in custom.sorted(by: { $0.key < $1.key }) {
      addDifference("\(path).\(key)", value(old), value(new))
    }
  }

  /// Returns the values if both policies have the mapping. Otherwise adds a line if one has it.
  private mutating func both<Root>(_ path: String, _ old: Root?, _ new: Root?) -> (Root, Root)? {
    switch (old, new) {
    case (nil, nil): break
    case (nil, .some): lines.append("\(path): added")
    case (.some, nil): lines.append("\(path): removed")
    case (.some(let old), .some(let new)): return (old, new)
    }
    return nil
  }

  private mutating func addDifference(_ path: String, _ old: ComparedValue, _ new: ComparedValue) {
    guard old != new else { return }
    switch (old, new) {
    case (.text(let before), .text(let after)):
      lines.append("\(path): \(SettingChanges.text(before)) -> \(SettingChanges.text(after))")
    case (.list(let before), .list(let after)):
      let known = Set(before)
      let kept = Set(after)
      let parts = [
        ("added", after.filter { !known.contains($0) }), ("removed", before.filter { !kept.contains($0) }),
      ].compactMap { word, items in items.isEmpty ? nil : "\(word) \(SettingChanges.list(items))" }
      lines.append("\(path): \(parts.isEmpty ? "another order" : parts.joined(separator: "; "))")
    default: lines.append("\(path): changed")
    }
  }

  private static func text(_ value: String?) -> String { value.map(shown) ?? "not set" }

  /// Returns the first three items, and the number of the others.
  private static func list(_ items: [String]) -> String {
    let rest = items.count - 3
    return items.prefix(3).map(shown).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  private func text<Root>(_ value: SettingValue?, _ setting: Setting<Root>) -> String {
    value.map { SettingChanges.shown(SettingText.text($0, setting.form)) } ?? "not set"
  }

  /// Returns the text without control characters, cut after 80 characters.
  private static func shown(_ text: String) -> String { String(quoted(text).dropFirst().dropLast()) }
}
