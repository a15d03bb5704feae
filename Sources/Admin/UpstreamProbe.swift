public import Reactor

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
  private var latest: (problem: String?, at: UInt64)?
  private var isRunning = false
  private var waiting: [Waiter] = []

  public init(_ poller: Poller, _ resolver: Resolver) {
    self.poller = poller
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
        try await poller.connect(to: address, with: waiter, until: deadline).close()
        return nil
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
}
