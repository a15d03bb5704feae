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
      _ = await waiter.sleep(until: poller.deadline(after: 2 * UpstreamProbe.timeout))
      waiter.retire()
      return latest?.problem
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
    let addresses: [Address]
    do throws(ResolveError) {
      addresses = try await resolver.resolve(on: poller)
    } catch {
      return error.description
    }
    let waiter = Waiter(poller)
    defer { waiter.retire() }
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
