public import OAuth
public import Policy

/// A private-use scheme that begins with a reversed domain name, and this domain. Domain registrations expire and
/// change owners, so operators should check these domains from time to time (RFC 7595, section 3.8).
public struct SchemeDomain: Sendable, Equatable, CustomStringConvertible {
  /// The private-use scheme, such as `com.example.app`.
  public let scheme: String
  /// The domain in its usual order, such as `example.com`.
  public let domain: String
  /// The clients with a redirect URI of this scheme, sorted by id.
  public let clients: [ClientID]

  /// One line of text, such as `com.example.app claims example.com (mobile)`.
  public var description: String {
    "\(scheme) claims \(domain) (\(clients.map(\.rawValue).joined(separator: ", ")))"
  }
}

extension Policy {
  /// All private-use schemes that begin with a reversed domain name, with these domains, sorted by scheme.
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
