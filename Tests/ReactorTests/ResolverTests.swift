import Reactor
import Testing

struct ResolverTests {
  @Test("A literal needs no look-up")
  func literal() async throws {
    let resolver = Resolver(host: "192.0.2.7", port: 81)
    #expect(resolver.known(now: 0)?.map(\.description) == ["192.0.2.7:81"])
    #expect(try await resolver.resolve(now: 0).first?.port == 81)
  }

  @Test("The local name is looked up once and remembered")
  func localName() async throws {
    let resolver = Resolver(host: "localhost", port: 80)
    #expect(resolver.known(now: 0) == nil)
    let addresses = try await resolver.resolve(now: Clock.monotonicNanoseconds() / 1_000_000)
    #expect(!addresses.isEmpty && addresses.allSatisfy { $0.isLoopback && $0.port == 80 })
    #expect(resolver.known(now: Clock.monotonicNanoseconds() / 1_000_000) == addresses)
  }

  @Test("An old answer is still given while a new one is looked up")
  func oldAnswer() async throws {
    let resolver = Resolver(host: "localhost", port: 80)
    let addresses = try await resolver.resolve(now: 0)
    let later = Clock.monotonicNanoseconds() / 1_000_000 + 10 * Resolver.freshMilliseconds
    #expect(resolver.known(now: later) == addresses)
    #expect(try await resolver.resolve(now: later) == addresses)
  }

  @Test("Many may ask at once, and all get the answer")
  func together() async throws {
    let resolver = Resolver(host: "localhost", port: 80)
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 { group.addTask { (try? await resolver.resolve(now: 0))?.isEmpty == false } }
      for await isGood in group { #expect(isGood) }
    }
  }

  @Test("A name that cannot exist is an error that says so", arguments: ["a b", "-.invalid..", ""])
  func badName(_ host: String) async {
    await #expect(throws: ResolveError.self) { try await Resolver(host: host, port: 80).resolve(now: 0) }
  }
}
