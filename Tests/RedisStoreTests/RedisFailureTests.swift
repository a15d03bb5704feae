import OAuth
import Policy
import Reactor
import RedisStore
import RedisTestSupport
import Stores
import Testing
import Time

@Suite("Failures of a store in Redis", .serialized)
struct RedisFailureTests {
  private func unavailable(
    _ operation: () async throws -> some Any, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> String {
    do {
      let result = try await operation()
      Issue.record("no failure, but \(result)", sourceLocation: sourceLocation)
    } catch StoreError.unavailable(let reason) {
      return reason
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
    return ""
  }

  @Test("A store can be started before its server, and connects later")
  func lateServer() async throws {
    let server = try RedisProcess()
    server.kill()
    try await StoreOnWorkers.run(server.settings, isConnected: false) { store async throws in
      #expect(await unavailable { try await store.get(.sample(.claim)) } == "the store is not connected yet")
      #expect(store.store.epoch == .none)
      try server.start()
      try await store.waitUntilAvailable()
      #expect(try await store.put(.sample(.claim)) == nil)
      #expect(store.store.epoch != .none)
    }
  }

  @Test("While the server is stopped or paused operations fail, and afterwards they succeed", arguments: [true, false])
  func frozen(isStopped: Bool) async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      let key = StoreKey.sample(.claim)
      if isStopped { server.freeze() } else { try server.command("CLIENT", "PAUSE", "5000", "ALL") }
      _ = await unavailable { try await store.put(key, 1) }
      // When the store is known to be away, operations do not wait for it.
      for _ in 0..<100 { _ = await unavailable { try await store.put(.sample(.claim, 2), 1) } }
      if isStopped { server.thaw() }
      try await store.waitUntilAvailable()
      // No request has the claim that timed out, so a later request gets it.
      let isFree = try await store.wait { try await store.put(key, 2) == nil }
      #expect(isFree)
      #expect(try await store.get(key) == StoreKind.claim.sample(2))
    }
  }

  @Test("A reply that never ends is no reply")
  func endlessReply() async throws {
    let server = try RedisProcess()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.stop() }
    try await StoreOnWorkers.run(RedisSettings(url: "redis://127.0.0.1:\(proxy.port)")) { store async throws in
      let key = StoreKey.sample(.claim)
      proxy.rule = .endless
      _ = await unavailable { try await store.put(key, 1) }
      // The store ended the connection, not the proxy.
      guard case .endless = proxy.rule else {
        Issue.record("the store has waited for the end of the reply")
        return
      }
      // Neither does the store wait for it while it connects.
      _ = await unavailable { try await store.put(.sample(.claim, 2), 1) }
      #expect(proxy.connections >= 2)
      proxy.rule = .pass
      try await store.waitUntilAvailable()
    }
  }

  @Test("A claim whose reply was cut off is sent again and recognised", arguments: [0, 3, 20])
  func cutClaim(bytes: Int) async throws {
    let server = try RedisProcess()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.stop() }
    try await StoreOnWorkers.run(RedisSettings(url: "redis://127.0.0.1:\(proxy.port)")) { store async throws in
      let key = StoreKey.sample(.claim)
      proxy.rule = .cut(after: bytes)
      // The server executes the command, but the store does not get the reply.
      #expect(try await store.put(key, 7) == nil)
      #expect(proxy.connections == 2)
      #expect(try await store.get(key) == StoreKind.claim.sample(7))
      #expect(try await store.put(key, 8) == StoreKind.claim.sample(7))
    }
  }

  @Test("A compare-and-set whose reply was cut off is sent again and recognised")
  func cutReplace() async throws {
    let server = try RedisProcess()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.stop() }
    try await StoreOnWorkers.run(RedisSettings(url: "redis://127.0.0.1:\(proxy.port)")) { store async throws in
      let key = StoreKey.sample(.family)
      #expect(try await store.put(key, 1) == nil)
      #expect(try await store.replace(key, 1, with: 2))
      proxy.rule = .cut(after: 0)
      #expect(try await store.replace(key, 2, with: 3))
      #expect(proxy.connections == 2)
      #expect(try await store.get(key) == StoreKind.family.sample(3))
    }
  }

  @Test("An operation fails if the server does not know its script even after it got it")
  func unknownScript() async throws {
    let server = try RedisProcess()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.stop() }
    try await StoreOnWorkers.run(RedisSettings(url: "redis://127.0.0.1:\(proxy.port)")) { store async throws in
      let key = StoreKey.sample(.family)
      #expect(try await store.put(key, 1) == nil)
      proxy.hidesScripts = true
      #expect(await unavailable { try await store.replace(key, 1, with: 2) }.contains("NOSCRIPT"))
      proxy.hidesScripts = false
      #expect(try await store.replace(key, 1, with: 2))
    }
  }

  @Test("An entry that was taken without a reply is not taken a second time")
  func cutTake() async throws {
    let server = try RedisProcess()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.stop() }
    try await StoreOnWorkers.run(RedisSettings(url: "redis://127.0.0.1:\(proxy.port)")) { store async throws in
      #expect(try await store.put(.sample(.pushed)) == nil)
      proxy.rule = .cut(after: 0)
      _ = await unavailable { try await store.take(.sample(.pushed)) }
      try await store.waitUntilAvailable()
      #expect(try await store.wait { try await store.take(.sample(.pushed)) == nil })
    }
  }

  @Test("With slow replies operations succeed or fail, and afterwards they succeed")
  func slow() async throws {
    let server = try RedisProcess()
    let proxy = try CuttingProxy(to: server.port)
    defer { proxy.stop() }
    try await StoreOnWorkers.run(RedisSettings(url: "redis://127.0.0.1:\(proxy.port)")) { store async throws in
      for (number, delay) in [20, 100, 700].enumerated() {
        proxy.rule = .delay(delay)
        let key = StoreKey.sample(.claim, number)
        do {
          #expect(try await store.put(key, 1) == nil)
        } catch StoreError.unavailable {
          #expect(delay == 700)
        }
      }
      proxy.rule = .pass
      #expect(try await store.wait { (try? await store.put(.sample(.claim, 9), 1)) == .some(nil) })
    }
  }

  @Test("A change for later is made although the connection that it was sent over ends without a reply")
  func later() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      let key = StoreKey.sample(.family)
      #expect(try await store.put(key, 1) == nil)
      server.freeze()
      let expiry = SystemClock.unixTime() + 60
      await store.store.replaceLater(key, key.kind.sample(1), with: key.kind.sample(2), expiry: expiry)
      await store.store.replaceLater(key, key.kind.sample(9), with: nil, expiry: expiry)
      _ = await unavailable { try await store.get(key) }
      server.thaw()
      #expect(try await store.wait { (try? await store.get(key)) == key.kind.sample(2) })
    }
  }

  @Test("A password is not reported if the server does not know the command that contains it")
  func unknownCommand() async throws {
    let server = try RedisProcess(options: ["--rename-command", "AUTH", "LOGIN"])
    var settings = server.settings
    settings.password = Secret("do-not-log")
    try await StoreOnWorkers.run(settings, isConnected: false) { store async throws in
      #expect(try await store.wait { store.notices.contains { $0.contains("unknown command") } })
      #expect(!store.notices.contains { $0.contains("do-not-log") })
      #expect(store.outage?.contains("do-not-log") == false)
    }
  }

  @Test("A server without its data is another epoch, and a claim in the earlier one counts as not made")
  func emptied() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings, workers: 2) { store async throws in
      let epoch = store.store.epoch
      #expect(try await store.put(.sample(.claim), 1) == nil)
      try server.command("FLUSHALL")
      let reason = await unavailable { try await store.put(.sample(.claim), 2) }
      #expect(reason.contains("another epoch"))
      #expect(try await store.wait { store.store.epoch != epoch })
      #expect(try await store.wait { (try? await store.put(.sample(.claim, 3), 2)) == .some(nil) })
      // A code of the earlier epoch is not redeemed in this one.
      let sample = StoreKind.claim.sample(4)
      let late = await unavailable {
        try await store.store.put(
          .sample(.claim, 4), sample, in: epoch, holder: StoreHolder(address: "127.0.0.1", isLoopback: true),
          expiry: 60,
          now: 0)
      }
      #expect(late.contains("another epoch"))
      #expect(try server.command("GET", "proofgate:epoch").contains(" "))
      #expect(store.notices.contains { $0.contains("new epoch") })
    }
  }

  @Test("A read from a server without its data fails, because the entry may have been lost")
  func emptiedRead() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      #expect(try await store.put(.sample(.family), 1) == nil)
      try server.command("FLUSHALL")
      #expect(await unavailable { try await store.get(.sample(.family)) }.contains("another epoch"))
    }
  }

  @Test("A restarted server is another epoch even with its data")
  func restarted() async throws {
    let server = try RedisProcess(options: ["--appendonly", "yes", "--appendfsync", "no"])
    try await StoreOnWorkers.run(server.settings) { store async throws in
      let epoch = store.store.epoch
      #expect(try await store.put(.sample(.family), 1) == nil)
      try server.command("SHUTDOWN")
      server.kill()
      _ = await unavailable { try await store.get(.sample(.family)) }
      try server.start()
      #expect(try await store.wait { store.store.epoch != epoch })
      #expect(try await store.wait { (try? await store.get(.sample(.family))) == StoreKind.family.sample(1) })
    }
  }

  @Test("Two stores with one server have the same epoch")
  func agreement() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings, workers: 2) { first async throws in
      try await StoreOnWorkers.run(server.settings, workers: 2) { second async throws in
        #expect(first.store.epoch == second.store.epoch)
        #expect(try await first.put(.sample(.claim), 1) == nil)
        #expect(try await second.put(.sample(.claim), 2) == StoreKind.claim.sample(1))
        try server.command("FLUSHALL")
        _ = await unavailable { try await first.get(.sample(.claim)) }
        #expect(try await second.wait { (try? await second.put(.sample(.claim, 2))) == .some(nil) })
        #expect(try await first.wait { first.store.epoch == second.store.epoch })
      }
    }
  }

  @Test("A wrong password is reported by name")
  func wrongPassword() async throws {
    let server = try RedisProcess(options: ["--requirepass", "right"])
    var settings = server.settings
    for (password, name) in [(nil, "NOAUTH"), (Secret("wrong"), "WRONGPASS")] {
      settings.password = password
      try await StoreOnWorkers.run(settings, isConnected: false) { store async throws in
        #expect(try await store.wait { store.notices.contains { $0.contains(name) } })
        #expect(store.outage?.contains(name) == true)
        _ = await unavailable { try await store.put(.sample(.claim)) }
      }
    }
    settings.password = Secret("right")
    try await StoreOnWorkers.run(settings) { store async throws in
      #expect(try await store.put(.sample(.claim)) == nil)
    }
  }

  @Test("A server without memory is reported by name, and reads succeed")
  func outOfMemory() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      #expect(try await store.put(.sample(.claim, 1)) == nil)
      try server.command("CONFIG", "SET", "maxmemory", "1")
      #expect(await unavailable { try await store.put(.sample(.claim, 2)) }.hasPrefix("OOM"))
      #expect(try await store.get(.sample(.claim, 1)) != nil)
      #expect(store.notices.contains { $0.contains("OOM") })
      #expect(store.store.activity?.failures[.misconfigured] == 1)
      try server.command("CONFIG", "SET", "maxmemory", "0")
      #expect(try await store.put(.sample(.claim, 2)) == nil)
    }
  }

  @Test("A change for later that a server without memory refuses is made when the server has memory again")
  func laterWithoutMemory() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      let key = StoreKey.sample(.family)
      #expect(try await store.put(key, 1) == nil)
      try server.command("CONFIG", "SET", "maxmemory", "1")
      let expiry = SystemClock.unixTime() + 60
      await store.store.replaceLater(key, key.kind.sample(1), with: key.kind.sample(2), expiry: expiry)
      // Sent after the change, on the same connection.
      #expect(try await store.get(key) == key.kind.sample(1))
      try server.command("CONFIG", "SET", "maxmemory", "0")
      #expect(try await store.wait { try await store.get(key) == key.kind.sample(2) })
    }
  }

  @Test("A server that may evict claims is reported at the start")
  func eviction() async throws {
    let server = try RedisProcess(options: ["--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"])
    try await StoreOnWorkers.run(server.settings, workers: 2) { store async throws in
      #expect(store.notices.filter { $0.contains("volatile-ttl") }.count == 1)
    }
  }

  @Test("A server that becomes a replica counts as away")
  func demoted() async throws {
    let server = try RedisProcess()
    let primary = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      try server.command("REPLICAOF", "127.0.0.1", "\(primary.port)")
      _ = await unavailable { try await store.put(.sample(.claim)) }
      #expect(try await store.wait { store.outage?.contains("not a primary") == true })
      try server.command("REPLICAOF", "NO", "ONE")
      try await store.waitUntilAvailable()
    }
  }

  @Test("A write that too few replicas have counts as not made, and reads succeed")
  func replicas() async throws {
    let server = try RedisProcess()
    let replica = try RedisProcess(options: ["--replicaof", "127.0.0.1 \(server.port)"])
    var settings = server.settings
    settings.minReplicas = 1
    try await StoreOnWorkers.run(settings) { store async throws in
      #expect(try await store.wait { try server.command("INFO", "replication").contains("state=online") })
      #expect(try await store.put(.sample(.claim, 1), 1) == nil)
      replica.freeze()
      let reason = await unavailable { try await store.put(.sample(.claim, 2), 1) }
      #expect(reason.contains("0 of 1"))
      #expect(try await store.get(.sample(.claim, 1)) != nil)
      replica.thaw()
      #expect(try await store.wait { (try? await store.put(.sample(.claim, 2), 2)) == .some(nil) })
    }
  }
}
