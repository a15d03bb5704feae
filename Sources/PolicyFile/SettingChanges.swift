import OAuth
public import Policy

/// The settings that differ between two policies, for the report of a reload.
///
/// Only the plain settings of the tables are compared: flags, words, numbers, sizes, times, dates, texts and paths. A
/// secret is never a plain setting, so no line contains one.
public struct SettingChanges {
  /// One line for each changed setting, such as `gateway.limits.requests_per_address: 100 -> 200`.
  public private(set) var lines: [String] = []

  /// Compares two policies.
  ///
  /// - Parameter maximumClients: The number of clients that are compared; the first in alphabetical order.
  public init(from old: Policy, to new: Policy, maximumClients: Int) {
    compare(GatewaySettings.table, "gateway", old.gateway, new.gateway)
    compare(LimitSettings.table, "gateway.limits", old.gateway.limits, new.gateway.limits)
    compare(Branding.table, "gateway.branding", old.gateway.branding, new.gateway.branding)
    compare(
      StrictTransport.table, "gateway.strict_transport_security", old.gateway.strictTransport,
      new.gateway.strictTransport)
    compare(AccessLogSettings.table, "gateway.access_log", old.gateway.accessLog, new.gateway.accessLog)
    compare(UpstreamSettings.table, "upstream", old.upstream, new.upstream)
    compare(EndpointPaths.table, "upstream.endpoints", old.upstream.endpoints, new.upstream.endpoints)
    compare(PolicyEnforcement.table, "enforcement", old.enforcement, new.enforcement)
    compare(RegistrationSettings.table, "registration", old.registration, new.registration)
    compare(
      UnlistedRedirects.table, "registration.redirects", old.registration?.rules.redirects,
      new.registration?.rules.redirects)
    compare(ClientDocumentSettings.table, "client_documents", old.clientDocuments, new.clientDocuments)
    compare(
      UnlistedRedirects.table, "client_documents.redirects", old.clientDocuments?.rules.redirects,
      new.clientDocuments?.rules.redirects)
    for id in old.clients.keys.sorted(by: { $0.rawValue < $1.rawValue }).prefix(maximumClients) {
      guard let before = old.clients[id], let after = new.clients[id] else { continue }
      let path = "clients[\(SettingChanges.shown(id.rawValue))]"
      compare(ClientSettings.table, path, before.settings, after.settings)
      compare(UpstreamClient.table, path + ".upstream", before.upstream, after.upstream)
    }
  }

  private mutating func compare<Root>(_ table: SettingTable<Root>, _ path: String, _ old: Root?, _ new: Root?) {
    switch (old, new) {
    case (nil, nil): return
    case (nil, .some): lines.append("\(path): added")
    case (.some, nil): lines.append("\(path): removed")
    case (.some(let old), .some(let new)):
      for setting in table.settings where setting.isPlain {
        let (before, after) = (setting.value(in: old), setting.value(in: new))
        guard before != after else { continue }
        lines.append("\(path).\(setting.key): \(text(before, setting)) -> \(text(after, setting))")
      }
    }
  }

  private func text<Root>(_ value: SettingValue?, _ setting: Setting<Root>) -> String {
    value.map { SettingChanges.shown(SettingText.text($0, setting.form)) } ?? "not set"
  }

  /// Returns the text without control characters, cut after 80 characters.
  private static func shown(_ text: String) -> String { String(quoted(text).dropFirst().dropLast()) }
}
