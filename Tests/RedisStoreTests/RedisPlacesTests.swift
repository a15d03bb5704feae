import Cryptography
import OAuth
import Policy
import PortTestSupport
import RedisStore
import RedisTestSupport
import Stores
import TLSTestSupport
import Testing
import Time

@Suite("Places of a Redis server", .serialized)
struct RedisPlacesTests {
  @Test("A store can use a Unix socket")
  func unixSocket() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(RedisSettings(url: "redis+unix:\(server.socket)?db=3")) { store async throws in
      #expect(try await store.put(.sample(.claim)) == nil)
    }
    #expect(try server.command("INFO", "keyspace").contains("db3:keys=2"))
  }

  @Test("A store can use a host name, a database and a key prefix")
  func name() async throws {
    let server = try RedisProcess()
    var settings = try RedisSettings(url: "redis://localhost:\(server.port)/2")
    settings.keyPrefix = "other:"
    try await StoreOnWorkers.run(settings) { store async throws in
      #expect(try await store.put(.sample(.claim)) == nil)
    }
    let keys = try server.command("-n", "2", "KEYS", "*").split(whereSeparator: \.isNewline)
    #expect(keys.count == 2)
    #expect(keys.allSatisfy { $0.hasPrefix("other:") })
  }

  private func secured() throws -> (RedisProcess, ReservedPort) {
    let port = try ReservedPort()
    let server = try RedisProcess(options: [
      "--tls-port", "\(port.number)", "--tls-cert-file", TestCertificates.path("gateway.pem"), "--tls-key-file",
      TestCertificates.path("gateway.key"), "--tls-ca-cert-file", TestCertificates.path("server-ca.pem"),
      "--tls-auth-clients", "no",
    ])
    return (server, port)
  }

  @Test("A store can use TLS, with values that fill many records")
  func tls() async throws {
    let (server, port) = try secured()
    var settings = try RedisSettings(url: "rediss://localhost:\(port.number)")
    settings.authorities = try TestCertificates.chain("server-ca")
    try await StoreOnWorkers.run(settings) { store async throws in
      let long = (0..<16_384).map { UInt8(truncatingIfNeeded: $0 * 7) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<16 {
          group.addTask { () async throws in
            let key = StoreKey.sample(.answer, number)
            let holder = StoreHolder(address: "127.0.0.1", isLoopback: true)
            #expect(try await store.store.put(key, long, holder: holder, expiry: 60, now: 0) == nil)
            #expect(try await store.get(key) == long)
          }
        }
        try await group.waitForAll()
      }
    }
    withExtendedLifetime((server, port)) {}
  }

  @Test("A certificate of another authority is refused and reported")
  func untrusted() async throws {
    let (server, port) = try secured()
    var settings = try RedisSettings(url: "rediss://localhost:\(port.number)")
    settings.authorities = try TestCertificates.chain("client-ca")
    try await StoreOnWorkers.run(settings, isConnected: false) { store async throws in
      #expect(try await store.wait { store.notices.contains { $0.contains("certificate is not trusted") } })
      #expect(store.store.epoch == .none)
    }
    withExtendedLifetime((server, port)) {}
  }

  @Test("The commands of one turn of a loop are sent together")
  func coalescing() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      func reads() throws -> Int {
        let line = try server.command("INFO", "stats").split(whereSeparator: \.isNewline)
          .first { $0.hasPrefix("total_reads_processed:") }
        return try #require(line.flatMap { Int($0.dropFirst("total_reads_processed:".count)) })
      }
      let before = try reads()
      // All of them begin in one job of the worker.
      try await store.simultaneously(64) { number async throws in
        #expect(try await store.put(.sample(.claim, number), number) == nil)
      }
      // One for the commands, one for redis-cli, and a few more if the kernel or the server divides the send.
      #expect(try reads() - before <= 6)
    }
  }

  @Test("Of 64 simultaneous claims of each of 64 codes one wins")
  func contention() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings, workers: 2) { first async throws in
      try await StoreOnWorkers.run(server.settings, workers: 2) { second async throws in
        let winners = try await withThrowingTaskGroup(of: Int.self) { group in
          for number in 0..<4_096 {
            group.addTask {
              let store = number % 2 == 0 ? first : second
              return try await store.put(.sample(.claim, number % 64), number / 64) == nil ? 1 : 0
            }
          }
          return try await group.reduce(0, +)
        }
        #expect(winners == 64)
      }
    }
  }

  @Test("The rights of the manual suffice for the store, and each missing right is reported")
  func accessRules() async throws {
    let manual = try Manual.text("docs/operations.md")
    let line = try #require(
      manual.split(separator: "\n").first { $0.hasPrefix("ACL SETUSER proofgate ") }.map(String.init))
    let server = try RedisProcess()
    let replica = try RedisProcess(options: ["--replicaof", "127.0.0.1 \(server.port)"])
    func grant(_ line: String) throws {
      try server.command("ACL", "DELUSER", "proofgate")
      let words = line.split(separator: " ").map { String($0).replacing("PASSWORD", with: "the password") }
      #expect(try server.command(words) == "OK")
    }
    var settings = try RedisSettings(url: "redis://proofgate@127.0.0.1:\(server.port)/1")
    settings.password = Secret("the password")
    settings.minReplicas = 1
    #expect(try await StoreOnWorkers.poll { try server.command("INFO", "replication").contains("state=online") })
    try grant(line)
    try await StoreOnWorkers.run(settings) { store async throws in
      for kind in StoreKind.allCases {
        let key = StoreKey.sample(kind)
        #expect(try await store.put(key, 1) == nil)
        #expect(try await store.replace(key, 1, with: 2))
        #expect(try await store.get(key) == kind.sample(2))
        #expect(try await store.remove(key, 2))
        #expect(try await store.put(key, 3) == nil)
        #expect(try await store.take(key) == kind.sample(3))
      }
      store.store.beginCount()
      #expect(try await store.wait { store.store.latestCount?.age != nil })
      #expect(store.notices == [])
    }
    // Each right of the line is necessary. Without `+scan`, only the count of the entries fails (`RedisCountTests`).
    let rights = line.split(separator: " ").filter { $0.hasPrefix("+") && $0 != "+scan" }
    #expect(rights.count > 8)
    for right in rights {
      try server.command("SCRIPT", "FLUSH")
      try server.command("FLUSHALL")
      try grant(line.split(separator: " ").filter { $0 != right }.joined(separator: " "))
      try await StoreOnWorkers.run(settings, isConnected: false) { store async throws in
        let isReported = try await store.wait {
          for kind in [StoreKind.claim, .answer] {
            let key = StoreKey.sample(kind)
            _ = try? await store.put(key, 1)
            _ = try? await store.replace(key, 1, with: 2)
            _ = try? await store.take(key)
            _ = try? await store.put(key, 3)
            _ = try? await store.remove(key, 3)
          }
          return store.notices.contains { $0.contains("NOPERM") } || store.activity?.failures[.misconfigured] != 0
        }
        #expect(isReported, "without \(right)")
      }
    }
    withExtendedLifetime(replica) {}
  }

  @Test(
    "URLs are parsed",
    arguments: [
      ("redis://h", RedisSettings.Endpoint.server(SocketAddress(host: "h", port: 6379)), 0, nil),
      ("redis://u@10.0.0.1:7/12", .server(SocketAddress(host: "10.0.0.1", port: 7)), 12, "u"),
      ("rediss://[::1]:7/", .server(SocketAddress(host: "::1", port: 7)), 0, nil),
      ("redis+unix:/run/r.sock?db=2", .socket(path: "/run/r.sock"), 2, nil),
      ("redis+unix://u@/run/r.sock", .socket(path: "/run/r.sock"), 0, "u"),
      (
        "redis+sentinel://u@a,b:7,[::1]/main/3",
        .sentinels(
          [
            SocketAddress(host: "a", port: 26379), SocketAddress(host: "b", port: 7),
            SocketAddress(host: "::1", port: 26379),
          ], primary: "main"), 3, "u"
      ),
    ])
  func urls(url: String, endpoint: RedisSettings.Endpoint, database: Int, user: String?) throws {
    let settings = try RedisSettings(url: url)
    #expect(settings.endpoint == endpoint)
    #expect(settings.database == database)
    #expect(settings.user == user)
    #expect(settings.usesTLS == url.hasPrefix("rediss"))
    if case .sentinels = endpoint {
      #expect(settings.requiredReplicas == 1)
    } else {
      #expect(settings.requiredReplicas == 0)
    }
  }

  @Test(
    "Texts that are not URLs of a Redis server are refused",
    arguments: [
      "http://h", "redis:/h", "redis://", "redis://h:0", "redis://h:65536", "redis://h:07", "redis://h/x",
      "redis://h/1/2",
      "redis://h?db=1", "redis://u:p@h", "redis://@h", "redis://h,i", "redis://[h]", "redis://[::1",
      "redis+unix:r.sock",
      "redis+unix:/r?x=1", "redis+unix://h/r", "redis+sentinel://h", "redis+sentinel://h/", "redis+sentinel:///m",
      "redis+sentinel://h,/m", "redis+sentinel://h/m/1/2", "redis://h h",
    ])
  func noURLs(text: String) {
    #expect(throws: RedisURLError.self) { try RedisSettings(url: text) }
  }
}
