public import Reactor

/// One look-up of the upstream's name, shared by all requests of a worker that need the answer. The system's resolver
/// has no deadline, so each request waits for this object until its own deadline.
public final class NameLookUp: Activity {
  private let resolver: Resolver
  private let poller: Poller
  private var waiting: [Waiter] = []
  /// True if a request has waited in vain. Further ones do not wait, and use the former addresses.
  var isLate = false
  /// The result; `nil` while the look-up runs.
  public private(set) var outcome: Result<[Address], ResolveError>?

  /// Creates a look-up that starts with `run`.
  public init(_ resolver: Resolver, _ poller: Poller) {
    self.resolver = resolver
    self.poller = poller
  }

  /// True if the look-up has ended with an answer.
  var hasAddresses: Bool {
    if case .success = outcome { true } else { false }
  }

  /// Wakes `waiter` when the look-up ends.
  public func add(_ waiter: Waiter) { waiting.append(waiter) }

  /// Removes `waiter`, so that the end of the look-up no longer wakes it.
  public func remove(_ waiter: Waiter) { waiting.removeAll { $0 === waiter } }

  /// Looks the name up and wakes all waiters.
  public func run() async {
    do throws(ResolveError) {
      outcome = .success(try await resolver.renew(on: poller))
    } catch {
      outcome = .failure(error)
    }
    for waiter in waiting { waiter.resume(.ready) }
  }
}
