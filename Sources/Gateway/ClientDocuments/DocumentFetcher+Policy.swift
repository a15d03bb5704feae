internal import ClientDocuments
import Policy
import Reactor

extension DocumentFetcher {
  /// Creates the fetcher of a policy; `nil` if the policy permits no documents.
  convenience init?(_ policy: Policy) {
    guard let settings = policy.clientDocuments, let authorities = settings.authorities else { return nil }
    var origins = [policy.gateway.origin]
    // An upstream on a Unix socket has no address.
    for case .origin(let origin) in policy.upstream.servers { origins.append(origin) }
    self.init(
      authorities: authorities, ownNames: origins.map { Resolver(host: $0.host, port: $0.port) },
      ownAddresses: policy.gateway.listeners.compactMap(\.address.socketAddress).compactMap {
        Address(literal: $0.host, port: $0.port)
      },
      permitsLoopback: settings.permitsLoopback && policy.gateway.origin.isLoopback)
  }
}
