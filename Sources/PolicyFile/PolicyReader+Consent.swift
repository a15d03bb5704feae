import OAuth
import Policy
import YAML

extension PolicyReader {
  /// Decides for each client whether the gateway or the upstream asks the user for consent (invariant `I-consent`).
  ///
  /// The decision depends on all clients. If several clients share an upstream client, the upstream cannot distinguish
  /// them, and the consent that the user gave to one counts for all (RFC 8252, section 8.6).
  func settleConsent() {
    let counts = clientCountsByUpstreamClient()
    var seen: [ClientID: Int] = [:]
    // The loop runs in reverse, and the warning is reported at the second client in the file that uses the upstream
    // client.
    for position in clients.entries.indices.reversed() {
      let entry = clients.entries[position]
      guard let client = entry.client else { continue }
      let upstreamID = client.upstream.clientID
      let count = counts[upstreamID] ?? 1
      if count > 1 {
        seen[upstreamID, default: 0] += 1
        if seen[upstreamID] == count - 1 {
          report(
            .sharedUpstreamClient, .warning, entry.upstreamID ?? entry.place,
            "upstream client \(quoted(upstreamID.rawValue)) serves \(count) clients, so an ID or access token of one "
              + "is valid for the others, and the upstream applies the user's consent for one to all; use an upstream "
              + "client for each")
        }
      }
      let reason = Self.reasonToAsk(client, sharing: count)
      let standard = reason == nil ? ConsentOwner.upstream : .gateway
      let consent = entry.consent == nil ? standard : client.consent
      if let place = entry.consent, consent == .upstream, let reason {
        report(
          .consentUpstream, .warning, place,
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

  /// Returns the number of clients that use each upstream client. Contains only upstream clients that at least one
  /// client with a different id uses.
  private func clientCountsByUpstreamClient() -> [ClientID: Int] {
    var counts: [ClientID: Int] = [:]
    for client in clients.entries.lazy.compactMap(\.client) where client.upstream.clientID != client.id {
      counts[client.upstream.clientID, default: 0] += 1
    }
    for id in Array(counts.keys) where clients[id]?.client?.upstream.clientID == id { counts[id, default: 0] += 1 }
    return counts
  }

  /// Returns the reason why the gateway should ask for consent itself; `nil` if the consent that the upstream asks for
  /// is sufficient.
  private static func reasonToAsk(_ client: Client, sharing count: Int) -> String? {
    if client.registration == .dynamic { return "the operator does not vouch for it" }
    if client.upstream.clientID != client.id { return "the upstream knows it under another id" }
    if count > 1 { return "the upstream client is shared" }
    for uri in client.redirectURIs {
      switch uri.kind {
      case .privateUse, .broker: return "any app can use a private-use scheme"
      case .loopback, .localhost: return "any program can listen on a loopback port"
      case .https: continue
      }
    }
    return nil
  }
}
