import Reactor

/// One look-up of the upstream's name, for all requests of a worker that need its answer: they wait with their own
/// deadlines, which the system's resolver knows nothing of.
final class NameLookUp: Activity {
  private let resolver: Resolver
  private let poller: Poller
  private var waiting: [Waiter] = []
  private(set) var outcome: Result<[Address], ResolveError>?

  init(_ resolver: Resolver, _ poller: Poller) {
    self.resolver = resolver
    self.poller = poller
  }

  func add(_ waiter: Waiter) { waiting.append(waiter) }

  func remove(_ waiter: Waiter) { waiting.removeAll { $0 === waiter } }

  func run() async {
    do throws(ResolveError) {
      outcome = .success(try await resolver.resolve(on: poller))
    } catch {
      outcome = .failure(error)
    }
    for waiter in waiting { waiter.resume(.ready) }
  }
}
