import Glibc
import OAuth
import Policy
import RedisStore
import RedisTestSupport
import Stores
import Synchronization
import Testing
import Time

@Suite("A store behind sentinels", .serialized)
struct SentinelTests {
  /// A primary, two replicas and three sentinels.
  private final class Cluster {
    let servers: [RedisProcess]
    let sentinels: [RedisProcess]

    init() throws {
      let first = try RedisProcess()
      let others = try (0..<2).map { _ in try RedisProcess(options: ["--replicaof", "127.0.0.1 \(first.port)"]) }
      servers = [first] + others
      // A sentinel asks a primary for its replicas when it starts, and then every ten seconds.
      let end = ContinuousClock.now + .seconds(120)
      while try first.command("INFO", "replication").components(of: "state=online") < others.count {
        try #require(ContinuousClock.now < end)
        usleep(10_000)
      }
      sentinels = try (0..<3).map { _ in
        let sentinel = try RedisProcess(
          .sentinel,
          configuration: """
            sentinel monitor main 127.0.0.1 \(first.port) 2
            sentinel down-after-milliseconds main 1000
            sentinel failover-timeout main 2000
            """)
        // It notices the state of the servers sooner, and does not stop its work if it had to wait for a processor.
        let answer = try sentinel.command(
          "SENTINEL", "DEBUG", "INFO-PERIOD", "1000", "PUBLISH-PERIOD", "500", "TILT-TRIGGER", "60000")
        try #require(answer == "OK", "\(answer)")
        return sentinel
      }
    }

    var settings: RedisSettings {
      RedisSettings(
        .sentinels(sentinels.map { SocketAddress(host: "127.0.0.1", port: $0.port) }, primary: "main"))
    }

    /// The server that the sentinels name.
    func primary() throws -> RedisProcess {
      let answer = try sentinels[0].command("SENTINEL", "get-master-addr-by-name", "main")
      return try #require(servers.first { answer.hasSuffix("\($0.port)") })
    }

    /// Waits until all sentinels know each other and both replicas, so that enough of them notice a failure.
    func settle() async throws {
      let isSettled = try await StoreOnWorkers.poll {
        try sentinels.allSatisfy {
          let state = try $0.command("SENTINEL", "MASTER", "main")
          let lines = state.split(whereSeparator: \.isNewline).map(String.init)
          func value(_ name: String) -> String? {
            lines.firstIndex(of: name).flatMap { $0 + 1 < lines.count ? lines[$0 + 1] : nil }
          }
          return value("num-slaves") == "2" && value("num-other-sentinels") == "2"
        }
      }
      #expect(isSettled)
      let isOnline = try await StoreOnWorkers.poll {
        let state = try primary().command("INFO", "replication")
        return state.components(of: "state=online") == 2
      }
      #expect(isOnline)
    }
  }

  @Test("After a failover the store is another epoch, with the entries that the replicas had")
  func failover() async throws {
    let cluster = try Cluster()
    try await cluster.settle()
    try await StoreOnWorkers.run(cluster.settings, workers: 2) { store async throws in
      let epoch = store.store.epoch
      #expect(try await store.put(.sample(.family), 1) == nil)
      let primary = try cluster.primary()
      primary.kill()
      let isBack = try await store.wait {
        (try? await store.get(.sample(.family))) == StoreKind.family.sample(1)
      }
      #expect(isBack)
      #expect(store.store.epoch != epoch)
      let sample = StoreKind.claim.sample(1)
      await #expect(throws: StoreError.self) {
        try await store.store.put(
          .sample(.claim, 2), sample, in: epoch, holder: StoreHolder(address: "127.0.0.1", isLoopback: true),
          expiry: 60,
          now: 0)
      }
      // The old primary returns as a replica, and the epoch does not change again.
      let later = store.store.epoch
      try primary.start()
      let isReplica = try await store.wait { try primary.command("INFO", "replication").contains("role:slave") }
      #expect(isReplica)
      #expect(try await store.get(.sample(.family)) == StoreKind.family.sample(1))
      #expect(store.store.epoch == later)
    }
  }

  /// The results of all claims, by code.
  private final class History: Sendable {
    private struct State {
      var winners: [Int: Int] = [:]
      var refusals = 0
      var failures = 0
      var isEnding = false
    }

    private let state = Mutex(State())

    func won(_ code: Int) { state.withLock { $0.winners[code, default: 0] += 1 } }
    func refused() { state.withLock { $0.refusals += 1 } }
    func failed() { state.withLock { $0.failures += 1 } }
    func end() { state.withLock { $0.isEnding = true } }
    var isEnding: Bool { state.withLock { $0.isEnding } }
    var winners: [Int: Int] { state.withLock { $0.winners } }
    var failures: Int { state.withLock { $0.failures } }
  }

  @Test("During failovers by a crash and by a stopped primary no code is claimed twice")
  func load() async throws {
    let cluster = try Cluster()
    try await cluster.settle()
    let history = History()
    try await StoreOnWorkers.run(cluster.settings) { first async throws in
      try await StoreOnWorkers.run(cluster.settings) { second async throws in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for client in 0..<16 {
            group.addTask {
              for round in 0..<100_000 {
                if history.isEnding { return }
                let code = client * 100_000 + round
                // Sealed with the epoch of one store and claimed at both, twice at once and twice later.
                let epoch = first.store.epoch
                await withTaskGroup(of: Void.self) { group in
                  for (number, gateway) in [first, second, first, second].enumerated() {
                    group.addTask {
                      if number > 1 { try? await Task.sleep(for: .milliseconds(number * 20)) }
                      let holder = StoreHolder(address: "127.0.0.1", isLoopback: true)
                      do throws(StoreError) {
                        let existing = try await gateway.store.put(
                          .sample(.claim, code), StoreKind.claim.sample(number * 16 + client), in: epoch,
                          holder: holder,
                          expiry: 60, now: 0)
                        if existing == nil { history.won(code) } else { history.refused() }
                      } catch {
                        history.failed()
                      }
                    }
                  }
                }
              }
            }
          }
          for isCrash in [true, false] {
            try await Task.sleep(for: .milliseconds(700))
            let primary = try cluster.primary()
            let before = history.winners.count
            if isCrash { primary.kill() } else { primary.freeze() }
            let isReplaced = try await StoreOnWorkers.poll { try cluster.primary() !== primary }
            #expect(isReplaced)
            // Codes of the new epoch are redeemed while the old primary is away.
            #expect(try await first.wait { history.winners.count > before + 100 })
            if isCrash { try primary.start() } else { primary.thaw() }
            try await cluster.settle()
          }
          history.end()
          try await group.waitForAll()
        }
      }
    }
    #expect(history.winners.values.allSatisfy { $0 == 1 })
    #expect(history.failures > 0)
  }
}

extension String {
  /// The number of times that the text occurs.
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
