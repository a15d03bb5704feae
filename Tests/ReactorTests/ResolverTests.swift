import Reactor
import Testing
import Time

struct ResolverTests {
  @Test("A literal needs no look-up")
  func literal() async throws {
    try await OnWorker.run { worker in
      let resolver = Resolver(host: "192.0.2.7", port: 81)
      #expect(resolver.cachedAddresses(now: 0)?.map(\.description) == ["192.0.2.7:81"])
      let addresses = try await resolver.resolve(on: worker.poller)
      #expect(addresses.first?.port == 81)
    }
  }

  @Test("The local name is looked up once and cached")
  func localName() async throws {
    try await OnWorker.run { worker in
      let resolver = Resolver(host: "localhost", port: 80)
      #expect(resolver.cachedAddresses(now: 0) == nil)
      let addresses = try await resolver.resolve(on: worker.poller)
      #expect(!addresses.isEmpty && addresses.allSatisfy { $0.isLoopback && $0.port == 80 })
      #expect(resolver.cachedAddresses(now: SystemClock.monotonicTime()) == addresses)
    }
  }

  @Test("An old result is still used while a new look-up runs")
  func oldAnswer() async throws {
    try await OnWorker.run { worker in
      let resolver = Resolver(host: "localhost", port: 80)
      let addresses = try await resolver.resolve(on: worker.poller)
      let later = SystemClock.monotonicTime() + Resolver.freshness * 10
      #expect(resolver.cachedAddresses(now: later) == addresses)
      let again = try await resolver.resolve(on: worker.poller)
      #expect(again == addresses)
    }
  }

  @Test("Concurrent look-ups of one name all get the result")
  func together() async throws {
    try await OnWorker.run { worker in
      let resolver = Resolver(host: "localhost", port: 80)
      let waiter = Waiter(worker.poller)
      var answered = 0
      for _ in 0..<50 {
        worker.poller.start(
          Script {
            if (try? await resolver.resolve(on: worker.poller))?.isEmpty == false { answered += 1 }
            if answered == 50 { waiter.resume(.ready) }
          })
      }
      #expect(await waiter.sleep(until: worker.poller.patience) == .ready)
      #expect(answered == 50)
      waiter.cancelDeadline()
    }
  }

  @Test("An impossible name gives an error with a reason", arguments: ["a b", "-.invalid..", ""])
  func badName(_ host: String) async throws {
    try await OnWorker.run { worker in
      let outcome: Result<[Address], ResolveError>
      do throws(ResolveError) {
        outcome = .success(try await Resolver(host: host, port: 80).resolve(on: worker.poller))
      } catch {
        outcome = .failure(error)
      }
      #expect(throws: ResolveError.self) { try outcome.get() }
    }
  }
}
