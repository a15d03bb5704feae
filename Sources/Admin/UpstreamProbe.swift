import Proxy
public import Reactor
public import TLS

/// Finds out whether the upstream accepts connections, only when asked, so that an idle process never wakes up.
///
/// Confined to the worker of its poller.
public final class UpstreamProbe {
  /// An answer this young is given again: probes from several sides cost the upstream one connection.
  private static let freshMilliseconds: UInt64 = 2_000
  /// Below what orchestrators wait for a probe's answer.
  private static let timeout = 900

  private let poller: Poller
  private let resolver: Resolver
  private let tls: @Sendable () -> TLSClient?
  private let handshakes: HandshakeGate
  private var latest: (problem: String?, at: UInt64)?
  private var isRunning = false
  private var lookUp: NameLookUp?
  private var waiting: [Waiter] = []

  /// - Parameter tls: how the upstream is spoken to now; `nil` for plaintext.
  public init(_ poller: Poller, _ resolver: Resolver, tls: @escaping @Sendable () -> TLSClient?) {
    self.poller = poller
    self.tls = tls
    handshakes = HandshakeGate(poller)
    self.resolver = resolver
  }

  /// Why the upstream does not accept connections; `nil` when it does.
  public func problem() async -> String? {
    if let latest, poller.now - latest.at < UpstreamProbe.freshMilliseconds { return latest.problem }
    if isRunning {
      let waiter = Waiter(poller)
      waiting.append(waiter)
      let wake = await waiter.sleep(until: poller.deadline(after: 2 * UpstreamProbe.timeout))
      waiting.removeAll { $0 === waiter }
      waiter.retire()
      // An old result does not describe the present state.
      guard wake == .ready, let latest else { return "no answer within \(2 * UpstreamProbe.timeout) ms" }
      return latest.problem
    }
    isRunning = true
    let problem = await connect()
    isRunning = false
    latest = (problem, poller.now)
    for waiter in waiting { waiter.resume(.ready) }
    waiting = []
    return problem
  }

  private func connect() async -> String? {
    let deadline = poller.deadline(after: UpstreamProbe.timeout)
    let waiter = Waiter(poller)
    defer { waiter.retire() }
    let addresses: [Address]
    switch await look(waiter, until: deadline) {
    case .success(let found)?: addresses = found
    case .failure(let error)?: return error.description
    case nil: return "no answer to the look-up of `\(resolver.host)` within \(UpstreamProbe.timeout) ms"
    }
    var problem = "no address"
    for address in addresses {
      do throws(ConnectError) {
        let socket = try await poller.connect(to: address, with: waiter, until: deadline)
        defer { socket.close() }
        return await handshake(socket, waiter, deadline).map { "\(address): \($0)" }
      } catch {
        switch error {
        case .timedOut: return "no answer from \(address) within \(UpstreamProbe.timeout) ms"
        case .abandoned: return "the probe was given up"
        case .failed(let error): problem = "\(address): \(error)"
        }
      }
    }
    return problem
  }

  /// The upstream's addresses; `nil` if the look-up takes longer. The system's resolver has no deadline of its own.
  private func look(_ waiter: Waiter, until deadline: Deadline) async -> Result<[Address], ResolveError>? {
    if let known = resolver.known(now: poller.now) { return .success(known) }
    let current: NameLookUp
    if let lookUp, lookUp.outcome == nil {
      current = lookUp
    } else {
      current = NameLookUp(resolver, poller)
      lookUp = current
      poller.start(current)
    }
    // Started by this poller, it runs in the next turn at the earliest.
    current.add(waiter)
    if current.outcome == nil { _ = await waiter.sleep(until: deadline) }
    current.remove(waiter)
    return current.outcome
  }

  /// Why the server is not to be talked to; `nil` when it is.
  private func handshake(_ socket: Socket, _ waiter: Waiter, _ deadline: Deadline) async -> TLSFailure? {
    guard let client = tls() else { return nil }
    do throws(TLSFailure) {
      try await client.connect(socket, with: waiter, gate: handshakes, until: deadline)
      return nil
    } catch {
      return error
    }
  }
}
