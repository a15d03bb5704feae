import OAuth
import Reactor
import Synchronization
import Testing
import Time

@testable import ClientDocuments

struct DocumentShareTests {
  private static let start = MonotonicTime(milliseconds: 1_000_000_000)

  private static func url(_ path: String) throws -> ClientDocumentURL {
    try #require(ClientDocumentURL(parsing: "https://app.example/" + path))
  }

  private static func fetched(_ name: String, lifetime: Seconds = 300) throws -> FetchedDocument {
    FetchedDocument(
      metadata: ClientMetadata(
        name: name, applicationType: .native, redirectURIs: [try RedirectURI(parsing: "http://127.0.0.1/cb")]),
      lifetime: lifetime)
  }

  private let value: AwaitedValue<DocumentCache.Outcome>

  init() async throws {
    let made = Mutex<AwaitedValue<DocumentCache.Outcome>?>(nil)
    let worker = try Worker(index: 0)
    try worker.start(name: "share")
    await worker.perform { worker in
      let value = AwaitedValue<DocumentCache.Outcome>(on: worker.poller)
      made.withLock { $0 = value }
    }
    await worker.stop()
    value = try #require(made.withLock { $0 })
  }

  /// The name in the document that the share returns; `fetch`, `wait`, or the failure.
  private func result(
    _ share: inout DocumentShare, _ path: String, isListed: Bool = false, at now: MonotonicTime
  ) throws -> String {
    switch share.lookUp(try Self.url(path), isListed: isListed, now: now, makeValue: { value }) {
    case .found(.success(let metadata)): metadata.name ?? ""
    case .found(.failure(let failure)): failure.description
    case .fetch: "fetch"
    case .wait: "wait"
    }
  }

  @Test("A document is used without a fetch until its lifetime ends, and at most one fetch of a URL runs")
  func freshness() throws {
    var share = DocumentShare()
    let found1 = try result(&share, "a", at: Self.start)
    #expect(found1 == "fetch")
    let found2 = try result(&share, "a", at: Self.start)
    #expect(found2 == "wait")
    let (outcome, waiting) = share.finish(try Self.url("a"), .success(try Self.fetched("A")), now: Self.start)
    #expect(try outcome.get().name == "A")
    #expect(waiting.count == 1)
    let found3 = try result(&share, "a", at: Self.start + 299_999)
    #expect(found3 == "A")
    let found4 = try result(&share, "a", at: Self.start + 300_000)
    #expect(found4 == "fetch")
    // Another request does not wait while an older version is usable.
    let found5 = try result(&share, "a", at: Self.start + 300_000)
    #expect(found5 == "A")
  }

  @Test("Invented URLs do not delay the fetch of a listed URL, or of one that led to a sign-in")
  func inventedURLs() throws {
    var share = DocumentShare()
    _ = try result(&share, "used", at: Self.start)
    _ = share.finish(try Self.url("used"), .success(try Self.fetched("U")), now: Self.start)
    share.recordSignIn(try Self.url("used"))
    let later = Self.start + 300_000
    for number in 0..<FetchWindow.DocumentClass.unknown.rawValue {
      let invented = try result(&share, "invented\(number)", at: later)
      #expect(invented == "fetch")
    }
    let next = try result(&share, "next", at: later)
    #expect(next.hasPrefix("too many"))
    let used = try result(&share, "used", at: later)
    #expect(used == "fetch")
    let listed = try result(&share, "listed", isListed: true, at: later)
    #expect(listed == "fetch")
  }

  @Test(
    "A document that its server reports missing twice, a minute apart, ends, and other failures do not end it",
    arguments: [
      ([.status(404), .status(404)], 60, true), ([.status(410), .unavailable(.response, "x"), .status(404)], 30, true),
      ([.status(404), .status(410)], 59, false), ([.status(403), .status(403), .status(400)], 60, false),
      ([.invalid("x"), .status(404), .invalid("x")], 60, false),
      ([.status(404), nil, .status(404)], 600, false),
    ] as [([DocumentFailure?], Int, Bool)])
  func withdrawal(responses: [DocumentFailure?], seconds: Int, ends: Bool) throws {
    var share = DocumentShare()
    let url = try Self.url("a")
    _ = share.finish(url, .success(try Self.fetched("A")), now: Self.start)
    var now = Self.start + 300_000
    let renewed = try Self.fetched("A")
    for response in responses {
      now = now + Milliseconds(seconds * 1_000)
      _ = share.finish(url, response.map { .failure($0) } ?? .success(renewed), now: now)
    }
    let found = try result(&share, "a", at: now + 1)
    #expect(found == (ends ? Self.pause : "A"))
    let later = try result(&share, "a", at: now + 10_000)
    #expect(later == "fetch")
    // The app gets a document again as soon as its server has one.
    _ = share.finish(url, .success(try Self.fetched("B")), now: now + 60_001)
    let found2 = try result(&share, "a", at: now + 60_002)
    #expect(found2 == "B")
  }

  @Test("A failed fetch never replaces a document: the last good one is used for 24 more hours")
  func staleness() throws {
    var share = DocumentShare()
    _ = try result(&share, "a", at: Self.start)
    _ = share.finish(try Self.url("a"), .success(try Self.fetched("A")), now: Self.start)
    for (hours, failure) in [(1, DocumentFailure.status(404)), (12, .unavailable(.response, "x")), (24, .invalid("y"))]
    {
      let now = Self.start + Milliseconds(hours * 3_600_000)
      let found6 = try result(&share, "a", at: now)
      #expect(found6 == "fetch")
      let (outcome, _) = share.finish(try Self.url("a"), .failure(failure), now: now)
      #expect(try outcome.get().name == "A")
    }
    let end = Self.start + 86_700_000
    let found7 = try result(&share, "a", at: end)
    #expect(found7 == "fetch")
    let (outcome, _) = share.finish(try Self.url("a"), .failure(.unavailable(.response, "x")), now: end)
    #expect(outcome == .failure(.unavailable(.response, "x")))
  }

  private static let pause = "its last fetch failed a moment ago"

  @Test("No failure is kept: 10 seconds later the document is fetched again, and until then it is unavailable")
  func failures() throws {
    for failure in [DocumentFailure.status(404), .invalid("bad"), .unavailable(.response, "down")] {
      var share = DocumentShare()
      let url = try Self.url("a")
      let first = try result(&share, "a", at: Self.start)
      #expect(first == "fetch")
      _ = share.finish(url, .failure(failure), now: Self.start)
      for now in [Self.start, Self.start + 9_999] {
        guard case .found(.failure(.unavailable(.rate, _))) = share.lookUp(url, now: now, makeValue: { value }) else {
          Issue.record("\(failure)")
          continue
        }
      }
      // Another document of the host is not delayed.
      let other = try result(&share, "b", at: Self.start + 9_999)
      #expect(other == "fetch")
      let second = try result(&share, "a", at: Self.start + 10_000)
      #expect(second == "fetch")
      _ = share.finish(url, .success(try Self.fetched("A")), now: Self.start + 10_000)
      let found = try result(&share, "a", at: Self.start + 10_000)
      #expect(found == "A")
    }
  }

  @Test("Requests during an outage leave fetches for the time after it, and do not delay other documents")
  func outage() throws {
    for (unknownCount, expected) in [(0, [0, 10, 20, 30, 40, 50, 60]), (5, [0, 10, 20, 30, 40, 60])] {
      var share = DocumentShare()
      for number in 0..<unknownCount { _ = try result(&share, "unknown\(number)", at: Self.start) }
      // A request each second, and each fetch fails.
      var fetches: [Int] = []
      for second in 0..<180 {
        let now = Self.start + Milliseconds(second * 1_000)
        guard try result(&share, "a", isListed: true, at: now) == "fetch" else { continue }
        fetches.append(second)
        _ = share.finish(try Self.url("a"), .failure(.unavailable(.response, "down")), now: now)
      }
      #expect(fetches.starts(with: expected), "\(fetches)")
      for (fetch, next) in zip(fetches, fetches.dropFirst()) { #expect(next - fetch <= 20, "\(fetches)") }
      let other = try result(&share, "b", isListed: true, at: Self.start + 179_000)
      #expect(other == "fetch")
    }
  }

  @Test("In any minute, at most ten documents of a host are fetched, of which at most five are unknown")
  func rate() throws {
    for unknownCount in [0, 3, 5] {
      var share = DocumentShare()
      // The first second has one fetch less than the limit permits, and the last one comes later.
      for number in 0..<9 {
        let found = try result(&share, "d\(number)", isListed: number >= unknownCount, at: Self.start)
        #expect(found == "fetch", "\(number) of \(unknownCount)")
      }
      let tenth = try result(&share, "tenth", isListed: true, at: Self.start + 30_000)
      #expect(tenth == "fetch")
      for now in [Self.start + 30_000, Self.start + 59_999] {
        for isListed in [false, true] {
          let next = try result(&share, "next", isListed: isListed, at: now)
          #expect(next.hasPrefix("too many"))
        }
      }
      // The nine have left the last minute, and the tenth is still in it.
      for number in 0..<9 {
        let found = try result(&share, "e\(number)", isListed: true, at: Self.start + 60_000)
        #expect(found == "fetch")
      }
      let last = try result(&share, "last", isListed: true, at: Self.start + 60_000)
      #expect(last.hasPrefix("too many"))
    }
  }

  @Test("Documents that led to a sign-in leave two fetches for listed URLs, also while they are fetched again")
  func reservedForListed() throws {
    var share = DocumentShare()
    // Ten documents of one user, who signs in with each of them.
    for number in 0..<10 {
      let now = Self.start + Milliseconds(number * 60_000)
      let found = try result(&share, "d\(number)", at: now)
      #expect(found == "fetch")
      _ = share.finish(try Self.url("d\(number)"), .success(try Self.fetched("d\(number)", lifetime: 300)), now: now)
      share.recordSignIn(try Self.url("d\(number)"))
    }
    let later = Self.start + 3_600_000
    let found = try (0..<10).map { try result(&share, "d\($0)", at: later) }
    // Without a fetch, the last good document is used.
    #expect(found.count { $0 == "fetch" } == 8)
    for path in ["listed", "also-listed"] {
      let listed = try result(&share, path, isListed: true, at: later)
      #expect(listed == "fetch")
    }
  }

  @Test("A document that led to no sign-in is evicted before one that did")
  func eviction() throws {
    var share = DocumentShare()
    var now = Self.start
    for number in 0...DocumentShare.maximumDocuments {
      now += 13_000
      let path = "d\(number)"
      let found15 = try result(&share, path, at: now)
      #expect(found15 == "fetch")
      _ = share.finish(try Self.url(path), .success(try Self.fetched(path, lifetime: 86_400)), now: now)
      if number == 0 { share.recordSignIn(try Self.url(path)) }
    }
    let found16 = try result(&share, "d0", at: now + 60_000)
    #expect(found16 == "d0")
    let found17 = try result(&share, "d1", at: now + 60_000)
    #expect(found17 == "fetch")
    let found18 = try result(&share, "d2", at: now + 60_000)
    #expect(found18 == "d2")
  }
}
