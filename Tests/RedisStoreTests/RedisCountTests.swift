import OAuth
import Policy
import RedisStore
import RedisTestSupport
import Stores
import Testing

@Suite("The count of the entries in Redis", .serialized)
struct RedisCountTests {
  /// Requests a count and waits until it has ended.
  private func count(_ store: StoreOnWorkers) async throws -> [StoreKind: StoreUsage] {
    store.store.beginCount()
    let hasEnded = try await store.wait {
      let count = store.store.latestCount
      return count?.age != nil || count?.problem != nil
    }
    #expect(hasEnded)
    return Dictionary(uniqueKeysWithValues: store.store.usage.map { ($0.kind, $0) })
  }

  @Test("A count has the entries and bytes of each kind, and no other keys of the server")
  func kinds() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings, workers: 2) { store async throws in
      for (index, kind) in StoreKind.allCases.enumerated() {
        for number in 0...index { #expect(try await store.put(.sample(kind, number)) == nil) }
      }
      try server.command("SET", "proofgate:c:short", "x")
      try server.command("SET", "other:c:AAAAAAAAAAAAAAAAAAAAAA", "x")
      try server.command("SET", "proofgate:z:AAAAAAAAAAAAAAAAAAAAAA", "x")
      let usage = try await count(store)
      for (index, kind) in StoreKind.allCases.enumerated() {
        let entries = index + 1
        // The prefix `proofgate:`, the letter of the kind, a colon, and 22 characters.
        #expect(usage[kind]?.entries == entries)
        #expect(usage[kind]?.bytes == entries * (34 + kind.sample().count))
        #expect(usage[kind]?.share == 0)
      }
      #expect(store.store.latestCount?.problem == nil)
    }
  }

  @Test("Without a request for figures nothing is counted, and a second request within a minute counts nothing again")
  func onlyOnRequest() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      #expect(try await store.put(.sample(.claim)) == nil)
      #expect(store.store.latestCount != nil)
      #expect(store.store.latestCount?.age == nil)
      #expect(store.store.usage.isEmpty)
      #expect(try !server.command("INFO", "commandstats").contains("cmdstat_scan"))
      _ = try await count(store)
      for _ in 0..<10 { store.store.beginCount() }
      #expect(try await store.get(.sample(.claim)) != nil)
      #expect(try server.command("INFO", "commandstats").contains("cmdstat_scan:calls=1,"))
    }
  }

  @Test("A count of many entries takes several steps, and measures some of the values")
  func steps() async throws {
    let server = try RedisProcess()
    try server.command(
      "EVAL",
      """
      for n = 1, 1200 do redis.call('SET', 'proofgate:h:' .. string.format('%022d', n), string.rep('v', 100)) end \
      return 1
      """, "0")
    try await StoreOnWorkers.run(server.settings) { store async throws in
      let states = try #require(try await count(store)[.state])
      // The server may return a key twice while its table grows.
      #expect((1_200...1_300).contains(states.entries))
      #expect(states.bytes == states.entries * 134)
      let lines = try server.command("INFO", "commandstats").split(whereSeparator: \.isNewline)
      let scan = try #require(lines.first { $0.hasPrefix("cmdstat_scan:calls=") })
      let calls = try #require(Int(scan.dropFirst("cmdstat_scan:calls=".count).prefix { $0.isNumber }))
      #expect((3...6).contains(calls))
      // Of each step, at most eight values are measured.
      let get = try #require(lines.first { $0.hasPrefix("cmdstat_get:calls=") })
      let reads = try #require(Int(get.dropFirst("cmdstat_get:calls=".count).prefix { $0.isNumber }))
      #expect(reads < 100)
    }
  }

  @Test("Without the right for SCAN the store works, the figures are unknown, and no failure is counted or reported")
  func withoutRight() async throws {
    let manual = try Manual.text("docs/operations.md")
    let line = try #require(
      manual.split(separator: "\n").first { $0.hasPrefix("ACL SETUSER proofgate ") }.map(String.init))
    #expect(line.contains(" +scan"))
    let server = try RedisProcess()
    let words = line.split(separator: " ").filter { $0 != "+scan" }
    #expect(try server.command(words.map { String($0).replacing("PASSWORD", with: "the password") }) == "OK")
    var settings = try RedisSettings(url: "redis://proofgate@127.0.0.1:\(server.port)")
    settings.password = Secret("the password")
    try await StoreOnWorkers.run(settings) { store async throws in
      #expect(try await count(store).isEmpty)
      let problem = try #require(store.store.latestCount?.problem)
      #expect(problem.hasPrefix("NOPERM"))
      #expect(problem.contains("docs/operations.md"))
      #expect(try await store.put(.sample(.claim)) == nil)
      #expect(store.outage == nil)
      #expect(store.notices == [])
      #expect(store.activity?.failures[.misconfigured] == 0)
    }
  }

  @Test("A count while the server is away gives the reason")
  func away() async throws {
    let server = try RedisProcess()
    server.kill()
    try await StoreOnWorkers.run(server.settings, isConnected: false) { store async throws in
      #expect(try await count(store).isEmpty)
      #expect(store.store.latestCount?.problem == "the store is not connected yet")
    }
  }
}
