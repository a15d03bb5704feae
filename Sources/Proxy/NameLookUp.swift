public import Reactor

/// One look-up of the upstream's name, for all requests of a worker that need its answer: they wait with their own
/// deadlines, which the system's resolver knows nothing of.
public final class NameLookUp: Activity {
  private let resolver: Resolver
  private let poller: Poller
  private var waiting: [Waiter] = []
  public private(set) var outcome: Result<[Address], ResolveError>?

  public init(_ resolver: Resolver, _ poller: Poller) {
    self.resolver = resolver
    self.poller = poller
  }

  public func add(_ waiter: Waiter) { waiting.append(waiter) }

  public func remove(_ waiter: Waiter) { waiting.removeAll { $0 === waiter } }

  public func run() async {
    do throws(ResolveError) {
      outcome = .success(try await resolver.resolve(on: poller))
    } catch {
      outcome = .failure(error)
    }
    for waiter in waiting { waiter.resume(.ready) }
  }
}
