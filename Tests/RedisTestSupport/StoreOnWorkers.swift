public import Policy
public import Reactor
public import RedisStore
public import Stores
import Synchronization
import Testing

/// A Redis store with workers on which it runs.
public final class StoreOnWorkers: Sendable {
  /// The store.
  public let store: RedisStore
  /// The workers of the store.
  public let workers: [Worker]
  private let said: Said

  private final class Said: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// The notices for the operator until now.
  public var notices: [String] { said.lines.withLock { $0 } }

  /// The reason why the store does not answer; `nil` if it does.
  public var outage: String? { store.activity?.outage }

  private init(_ settings: RedisSettings, workers count: Int) throws {
    let said = Said()
    self.said = said
    store = RedisStore(settings)
    store.reportOutages { text in said.lines.withLock { $0.append(text) } }
    workers = try (0..<count).map { try Worker(index: $0) }
    for worker in workers { try worker.start(name: "redis-test") }
  }

  /// Runs `body` with a store.
  ///
  /// - Parameter isConnected: true if `body` needs a connected store.
  public static func run<Result>(
    _ settings: RedisSettings, workers count: Int = 1, isConnected: Bool = true,
    _ body: (StoreOnWorkers) async throws -> Result
  ) async throws -> Result {
    let fixture = try StoreOnWorkers(settings, workers: count)
    for worker in fixture.workers { await worker.perform { fixture.store.start(on: $0) } }
    if isConnected { try await fixture.waitUntilAvailable() }
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
    await fixture.store.stop()
    for worker in fixture.workers {
      await worker.abortConnections()
      await worker.stop()
    }
    return try result.get()
  }

  /// Waits up to two minutes until the store is connected.
  public func waitUntilAvailable() async throws {
    let isAvailable = try await wait { self.outage == nil }
    #expect(isAvailable, "\(self.outage ?? "")")
  }

  /// The operations of the store since its start.
  public var activity: StoreActivity? { store.activity }

  /// Runs `body` `count` times. All of them begin in one job of the first worker.
  public func simultaneously(
    _ count: Int, _ body: @escaping @Sendable (_ number: Int) async throws -> Void
  ) async throws {
    for task in await workers[0].launch(count, body) { try await task.value }
  }

  /// Waits up to two minutes until the condition holds. Returns false if it does not.
  public func wait(until condition: () async throws -> Bool) async throws -> Bool {
    try await StoreOnWorkers.poll(condition)
  }

  /// Waits up to two minutes until the condition holds. Returns false if it does not.
  public static func poll(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < end {
      if try await condition() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }
}

extension RedisStore {
  /// Starts the store and waits up to two minutes until it is connected.
  public func startAndConnect(on workers: [Worker]) async throws {
    for worker in workers { await worker.perform { self.start(on: $0) } }
    let isConnected = try await StoreOnWorkers.poll { activity?.outage == nil }
    #expect(isConnected, "\(activity?.outage ?? "")")
  }
}

extension Worker {
  /// Starts tasks in the way in which the worker starts its activities.
  fileprivate func launch(
    _ count: Int, _ body: @escaping @Sendable (_ number: Int) async throws -> Void
  ) -> [Task<Void, any Error>] {
    (0..<count).map { number in Task.immediate { try await self.perform(number, body) } }
  }

  private func perform(_ number: Int, _ body: @Sendable (_ number: Int) async throws -> Void) async throws {
    try await body(number)
  }
}
