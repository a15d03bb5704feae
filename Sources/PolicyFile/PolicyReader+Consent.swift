import OAuth
import Policy
import Time
import YAML

extension PolicyReader {
  /// Decides for each client whether the gateway or the upstream asks the user for consent (invariant `I-consent`).
  ///
  /// The decision depends on all clients: if several clients share an upstream client, the upstream cannot distinguish
  /// them, and the user's consent for one counts for all (RFC 8252, section 8.6).
  func assignConsentOwners() {
    let counts = clientCountsByUpstreamClient()
    var seen: [ClientID: Int] = [:]
    // The warning about a shared upstream client is reported at the second of its clients in the file. The loop visits
    // the clients from last to first, so at this client `seen` counts all of them except the first.
    for position in clients.entries.indices.reversed() {
      let entry = clients.entries[position]
      guard let client = entry.client else { continue }
      let upstreamID = client.upstream.clientID
      let count = counts[upstreamID] ?? 1
      if count > 1 {
        seen[upstreamID, default: 0] += 1
        if seen[upstreamID] == count - 1 {
          report(
            .sharedUpstreamClient, .warning, entry.upstreamIDLocation ?? entry.location,
            "upstream client \(quoted(upstreamID.rawValue)) serves \(count) clients, so an ID or access token of one "
              + "is valid for the others, and the upstream applies the user's consent for one to all; use an upstream "
              + "client for each")
        }
      }
      let reason = Self.reasonToAsk(client, sharing: count)
      let defaultOwner = reason == nil ? ConsentOwner.upstream : .gateway
      let consent = entry.consentLocation == nil ? defaultOwner : client.consent
      if let location = entry.consentLocation, consent == .upstream, let reason {
        report(
          .consentUpstream, .warning, location,
          "the gateway does not ask for consent for client \(quoted(client.id.rawValue)) although \(reason); use "
            + "`consent: gateway`")
      }
      if consent != client.consent {
        var settings = client.settings
        settings.consent = consent
        clients.replace(Client(settings), at: position)
      }
    }
  }

  /// Reports `consent_remembered` where it has no effect.
  func lintRememberedConsent() {
    if let reason = reasonNotToRemember {
      for location in (rememberedLocation.map { [$0] } ?? []) + clients.rememberedLocations.values {
        report(
          .consentRemembered, .warning, location, "`consent_remembered` has no effect, because \(reason); remove it")
      }
      return
    }
    guard rememberedLocation != nil || !clients.rememberedLocations.isEmpty else { return }
    var isUsed = false
    for case let client? in clients.entries.lazy.map(\.client) {
      guard let reason = Self.reasonNotToRemember(client) else {
        isUsed = isUsed || client.consentRemembered > 0
        continue
      }
      guard let location = clients.rememberedLocations[client.id] else { continue }
      report(
        .consentRemembered, .warning, location,
        "`consent_remembered` has no effect for client \(quoted(client.id.rawValue)), because \(reason); remove it")
    }
    if !isUsed, let rememberedLocation {
      report(
        .consentRemembered, .warning, rememberedLocation,
        "`consent_remembered` has no effect, because no client is trusted, has an https redirect URI and "
          + "`consent: gateway`; remove it")
    }
  }

  /// The reason why the gateway remembers no consent of any client, as part of a message; `nil` if it can.
  private var reasonNotToRemember: String? {
    if gateway?.origin.scheme == .http { return "another site could set the cookie of an http origin" }
    if upstream?.needsCrossSiteCookie == true {
      return "browsers send the gateway's cookie with requests of other sites (`callback` or `cross_site_login`)"
    }
    return nil
  }

  /// Returns the reason why the gateway does not remember the user's consent for a client; `nil` if it can.
  private static func reasonNotToRemember(_ client: Client) -> String? {
    if client.registration != .trusted { return "the operator does not vouch for it" }
    if client.consent != .gateway { return "the gateway does not ask for consent to its https redirect URIs" }
    for case .https in client.redirectURIs.lazy.map(\.kind) { return nil }
    return "it has no https redirect URI"
  }

  /// Returns the number of clients of each upstream client, by the upstream id. The result contains only upstream
  /// clients that at least one client with a different id uses.
  private func clientCountsByUpstreamClient() -> [ClientID: Int] {
    var counts: [ClientID: Int] = [:]
    for client in clients.entries.lazy.compactMap(\.client) where client.upstream.clientID != client.id {
      counts[client.upstream.clientID, default: 0] += 1
    }
    // A client whose id is the same in the policy and at the upstream also uses the upstream client.
    for id in Array(counts.keys) where clients[id]?.client?.upstream.clientID == id { counts[id, default: 0] += 1 }
    return counts
  }

  /// Returns the reason why the gateway itself should ask for consent, as part of a message; `nil` if it is sufficient
  /// that the upstream asks.
  ///
  /// - Parameter count: The number of clients that use the same upstream client.
  private static func reasonToAsk(_ client: Client, sharing count: Int) -> String? {
    if client.registration != .trusted { return "the operator does not vouch for it" }
    if client.upstream.clientID != client.id { return "the upstream knows it under another id" }
    if count > 1 { return "the upstream client is shared" }
    for uri in client.redirectURIs {
      switch uri.kind {
      case .privateUse, .windowsBroker: return "any app can use a private-use scheme"
      case .loopback, .localhost: return "any program can listen on a loopback port"
      case .https: continue
      }
    }
    return nil
  }
}
