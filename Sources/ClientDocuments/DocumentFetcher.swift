public import Cryptography
public import OAuth
public import Reactor
internal import Synchronization
public import TLS
public import Time

/// A document that was fetched and parsed.
public struct FetchedDocument: Sendable {
  /// The metadata in the document.
  public let metadata: ClientMetadata
  /// The time for which the document may be used without a new fetch.
  public let lifetime: Seconds
}

/// Fetches client ID metadata documents. All workers share one fetcher.
///
/// The caller has checked that the policy lists the URL. The fetcher connects only to an address that it has checked
/// itself, so that a second answer of the name server cannot lead it elsewhere. It ignores the variables that name a
/// proxy, because a proxy would resolve the name again.
public final class DocumentFetcher: Sendable {
  /// The time for the look-up, the connection and the response together. A user waits for it.
  public static let timeout: Milliseconds = 3_000
  /// The maximum number of addresses that are tried. More would not fit into the time.
  private static let maximumAttempts = 3

  /// A function that creates the resolver of a host. Tests replace it.
  package typealias MakeResolver = @Sendable (_ host: String, _ port: Int) -> Resolver

  /// The resolver and the TLS client of one server.
  private struct Server: Sendable {
    let resolver: Resolver
    let tls: TLSClient
  }

  private let authorities: CertificateChain
  private let ownNames: [Resolver]
  private let ownAddresses: [Address]
  private let permitsLoopback: Bool
  private let makeResolver: MakeResolver
  /// The servers by authority. The policy limits their number.
  private let servers = Mutex<[String: Server]>([:])

  /// Creates a fetcher.
  ///
  /// - Parameters:
  ///   - authorities: The accepted issuers of the servers' certificates.
  ///   - ownNames: The names of the gateway and the upstream, whose addresses are refused.
  ///   - ownAddresses: Further addresses of the gateway, which are refused.
  ///   - permitsLoopback: True to permit loopback addresses, for tests and demos. Own addresses are then compared with
  ///     their ports.
  public convenience init(
    authorities: CertificateChain, ownNames: [Resolver], ownAddresses: [Address], permitsLoopback: Bool
  ) {
    self.init(
      authorities: authorities, ownNames: ownNames, ownAddresses: ownAddresses, permitsLoopback: permitsLoopback
    ) { Resolver(host: $0, port: $1) }
  }

  package init(
    authorities: CertificateChain, ownNames: [Resolver], ownAddresses: [Address], permitsLoopback: Bool,
    makeResolver: @escaping MakeResolver
  ) {
    self.authorities = authorities
    self.ownNames = ownNames
    self.ownAddresses = ownAddresses
    self.permitsLoopback = permitsLoopback
    self.makeResolver = makeResolver
  }

  /// Fetches and parses the document at a URL. Throws `DocumentFailure`.
  ///
  /// - Parameters:
  ///   - poller: The poller of the worker on which this function runs.
  ///   - gate: The limit on the handshakes of that worker.
  public func fetch(
    _ url: ClientDocumentURL, on poller: Poller, gate: HandshakeGate
  ) async throws(DocumentFailure) -> FetchedDocument {
    let deadline = poller.deadline(after: DocumentFetcher.timeout)
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let server = try server(of: url)
    let addresses = try await permittedAddresses(server.resolver, on: poller, until: deadline)
    let socket = try await connect(to: addresses, poller, waiter, deadline)
    defer { socket.close() }
    do throws(TLSFailure) {
      try await server.tls.connect(socket, with: waiter, gate: gate, until: deadline)
    } catch {
      throw .unavailable(error == .timedOut ? .timeout : .tls, "\(error)")
    }
    let response = try await DocumentConnection(socket, poller, waiter, deadline).get(url)
    return FetchedDocument(
      metadata: try ClientDocument.metadata(in: response.body, at: url),
      lifetime: DocumentLifetime.lifetime(cacheControl: response.cacheControl))
  }

  private func server(of url: ClientDocumentURL) throws(DocumentFailure) -> Server {
    if let known = servers.withLock({ $0[url.authority] }) { return known }
    let tls: TLSClient
    do throws(TLSError) {
      tls = try TLSClient(name: url.host, authorities: authorities)
    } catch {
      throw .unavailable(.tls, "\(error)")
    }
    let made = Server(resolver: makeResolver(url.host, url.port), tls: tls)
    return servers.withLock { servers in
      // Another worker may have created the server meanwhile.
      if let known = servers[url.authority] { return known }
      servers[url.authority] = made
      return made
    }
  }

  // MARK: Addresses

  /// Returns the addresses of the server to which the gateway may connect. Throws if there is none.
  private func permittedAddresses(
    _ resolver: Resolver, on poller: Poller, until deadline: Deadline
  ) async throws(DocumentFailure) -> [Address] {
    let found: [Address]
    switch await resolver.resolve(on: poller, until: deadline) {
    case .success(let addresses)?: found = addresses
    case .failure?: throw .unavailable(.lookUp, "its host has no address")
    case nil: throw .unavailable(.lookUp, "the look-up of its host took too long")
    }
    var own = ownAddresses
    for name in ownNames {
      switch await name.resolve(on: poller, until: deadline) {
      case .success(let addresses)?: own += addresses
      // A name that cannot be resolved here has no address that could be compared.
      case .failure?: continue
      case nil: throw .unavailable(.lookUp, "the look-up of its host took too long")
      }
    }
    let permitted = found.filter { isPermitted($0, own: own) }
    guard !permitted.isEmpty else { throw .unavailable(.address, "its host has no address that is publicly reachable") }
    return Array(permitted.prefix(DocumentFetcher.maximumAttempts))
  }

  private func isPermitted(_ address: Address, own: [Address]) -> Bool {
    if permitsLoopback, address.isLoopback { return !own.contains(address) }
    return address.isGloballyReachable && !own.contains { $0.isSameHost(as: address) }
  }

  private func connect(
    to addresses: [Address], _ poller: Poller, _ waiter: Waiter, _ deadline: Deadline
  ) async throws(DocumentFailure) -> Socket {
    for address in addresses {
      do throws(ConnectError) {
        return try await poller.connect(to: address, with: waiter, until: deadline)
      } catch {
        if case .failed = error { continue }
        throw .unavailable(.timeout, "its server does not accept connections in time")
      }
    }
    throw .unavailable(.connection, "its server does not accept connections")
  }
}
