public import OAuth
public import Policy

/// A domain that a private-use scheme claims. Domains lapse and change hands, so operators recheck this list
/// (RFC 7595, section 3.8).
public struct SchemeDomain: Sendable, Equatable, CustomStringConvertible {
  public let scheme: String
  public let domain: String
  public let clients: [ClientID]

  public var description: String {
    "\(scheme) claims \(domain) (\(clients.map(\.rawValue).joined(separator: ", ")))"
  }
}

extension Policy {
  /// Every private-use scheme with the domain that it claims, sorted by scheme.
  public var schemeDomains: [SchemeDomain] {
    var domains: [String: String] = [:]
    var owners: [String: Set<String>] = [:]
    for client in clients.values {
      for uri in client.redirectURIs {
        guard let scheme = uri.privateUseScheme, let domain = uri.claimedDomain else { continue }
        domains[scheme] = domain
        owners[scheme, default: []].insert(client.id.rawValue)
      }
    }
    return domains.sorted { $0.key < $1.key }.map { scheme, domain in
      SchemeDomain(scheme: scheme, domain: domain, clients: (owners[scheme] ?? []).sorted().map { ClientID($0) })
    }
  }
}
