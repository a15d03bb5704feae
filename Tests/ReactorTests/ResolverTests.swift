import Reactor
import Synchronization
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

  @Test("A caller waits for a new look-up of an outdated name, and gets the former answer if that fails")
  func outdated() async throws {
    try await OnWorker.run { worker in
      let count = Atomic<Int>(0)
      let resolver = Resolver(host: "legacy.test", port: 80, freshness: 0) { host, port in
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        guard number < 3, let address = Address(literal: "192.0.2.\(number)", port: port) else {
          return .failure(ResolveError(host: host, reason: "no answer"))
        }
        return .success([address])
      }
      for expected in ["192.0.2.1:80", "192.0.2.2:80", "192.0.2.2:80"] {
        let addresses = try await resolver.renew(on: worker.poller)
        #expect(addresses.map(\.description) == [expected])
        // The clock must pass the time of the answer.
        await worker.poller.pause(5)
        #expect(resolver.isOutdated(now: worker.poller.now))
      }
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
