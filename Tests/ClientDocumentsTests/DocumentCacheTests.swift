import OAuth
import Reactor
import Synchronization
import TLS
import Testing
import Time

@testable import ClientDocuments

/// The cache in front of a server over sockets.
@Suite("The cache of client documents, over sockets")
struct DocumentCacheTests {
  private typealias Fixture = DocumentFixture

  /// The response that a server sends; a test changes it.
  private final class Answer: Sendable {
    private let bytes = Mutex<[UInt8]?>(nil)

    /// `nil` for the document at the path of the request.
    func set(_ bytes: [UInt8]?) { self.bytes.withLock { $0 = bytes } }

    var script: DocumentServer.Script {
      { server, connection in
        await server.read(connection)
        let bytes = self.bytes.withLock { $0 }
        guard let answer = try? bytes ?? Fixture.answer(server) else { return }
        _ = await connection.send(answer)
      }
    }
  }

  private static func read(
    _ fetcher: DocumentFetcher, _ url: ClientDocumentURL, _ cache: DocumentCache, on worker: isolated Worker
  ) async -> DocumentReading {
    await fetcher.metadata(at: url, cache: cache, on: worker.poller, gate: HandshakeGate(worker.poller))
  }

  private static let serverError = Fixture.response([], status: 500)

  @Test("While its server fails, a document is used for 24 hours after its lifetime, and not longer")
  func stale() async throws {
    try await FetchWorker.run { worker in
      let answer = Answer()
      let server = try DocumentServer(on: worker, answer.script)
      let fetcher = try Fixture.fetcher(NameAnswers([server.address]))
      let url = try Fixture.url(server.address.port)
      let fetched = try await fetcher.result(url, on: worker).get()
      answer.set(Self.serverError)
      let now = worker.poller.now.milliseconds
      for (age, isUsed) in [(86_400_000 + 3_590_000, true), (86_400_000 + 3_601_000, false)] as [(UInt64, Bool)] {
        // A machine that has just started has no time that long ago.
        guard now > age else { continue }
        let cache = DocumentCache()
        let past = MonotonicTime(milliseconds: now - age)
        guard case .fetch = cache.lookUp(url, on: worker.poller, now: past) else { continue }
        _ = cache.finish(url, .success(fetched), now: past)
        let reading = await Self.read(fetcher, url, cache, on: worker)
        #expect(reading.outcome.isSuccess == isUsed)
        #expect(reading.isFetch && reading.failure == .unavailable(.response, "its server answered with status 500"))
      }
    }
  }

  @Test("After a failed fetch the document is unavailable, and is not fetched again at once")
  func failedFetch() async throws {
    for bytes in [Fixture.response([], status: 404), Fixture.response(Array("{}".utf8)), Self.serverError] {
      try await FetchWorker.run { worker in
        let answer = Answer()
        answer.set(bytes)
        let server = try DocumentServer(on: worker, answer.script)
        let fetcher = try Fixture.fetcher(NameAnswers([server.address]))
        let (url, cache) = (try Fixture.url(server.address.port), DocumentCache())
        let first = await Self.read(fetcher, url, cache, on: worker)
        #expect(first.isFetch && !first.outcome.isSuccess)
        answer.set(nil)
        let second = await Self.read(fetcher, url, cache, on: worker)
        #expect(second.outcome.outage == .rate)
        #expect(server.connections == 1)
        // The test does not wait: a cache for which the time has passed fetches the document that is good now.
        let past = DocumentCache()
        let now = worker.poller.now
        guard now.milliseconds > 10_000 else { return }
        let earlier = MonotonicTime(milliseconds: now.milliseconds - 10_000)
        guard case .fetch = past.lookUp(url, on: worker.poller, now: earlier) else { return }
        _ = past.finish(url, .failure(.invalid("bad")), now: earlier)
        #expect(await Self.read(fetcher, url, past, on: worker).outcome.isSuccess)
      }
    }
  }

  @Test("Requests for one document at the same time cause one fetch, and all of them get its result")
  func oneFetch() async throws {
    try await FetchWorker.run { worker in
      let server = try DocumentServer(on: worker) { server, connection in
        await server.read(connection)
        await connection.pause(300)
        guard let answer = try? Fixture.answer(server) else { return }
        _ = await connection.send(answer)
      }
      let fetcher = try Fixture.fetcher(NameAnswers([server.address]))
      let (url, cache) = (try Fixture.url(server.address.port), DocumentCache())
      let tasks = (0..<20).map { _ in
        worker.launch { worker in await Self.read(fetcher, url, cache, on: worker).outcome.isSuccess }
      }
      for task in tasks { #expect(try await task.value) }
      #expect(server.connections == 1)
    }
  }

  @Test("Of many unknown documents of one host, five are fetched in a minute, and the others are unavailable")
  func rate() async throws {
    try await FetchWorker.run { worker in
      let server = try DocumentServer(on: worker, Answer().script)
      let fetcher = try Fixture.fetcher(NameAnswers([server.address]))
      let cache = DocumentCache()
      var outages: [DocumentOutage?] = []
      for number in 0..<7 {
        let url = try Fixture.url(server.address.port, "/\(number).json")
        outages.append(await Self.read(fetcher, url, cache, on: worker).outcome.outage)
      }
      #expect(outages == Array(repeating: nil, count: 5) + [.rate, .rate])
      #expect(server.connections == 5)
    }
  }

  @Test("One network causes two fetches of unknown documents in a minute, and does not delay those of other networks")
  func networks() async throws {
    try await FetchWorker.run { worker in
      let cache = DocumentCache()
      let now = worker.poller.now
      let poller = worker.poller
      func isFetched(_ path: String, from requester: String?, isListed: Bool = false) throws -> Bool {
        let url = try #require(ClientDocumentURL(parsing: "https://\(path.prefix(1)).example/" + path))
        if case .fetch = cache.lookUp(url, isListed: isListed, for: requester, on: poller, now: now) { return true }
        return false
      }
      for number in 0..<10 {
        // All addresses are in one /24, and in one /48.
        for (family, address) in [("a", "192.0.2.\(number)"), ("b", "2001:db8::\(number):1")] {
          let isFirst = try isFetched("\(family)\(number)", from: address)
          #expect(isFirst == (number < 2))
        }
      }
      let others = try [
        isFetched("a-real", from: "198.51.100.1"), isFetched("a-local", from: nil),
        isFetched("a-listed", from: "192.0.2.1", isListed: true),
      ]
      #expect(others == [true, true, true])
    }
  }
}
