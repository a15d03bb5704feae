import Cryptography
import GatewayTestSupport
import HTTP
import HTTP1
import LegacyServer
import PathReading
import Policy
import Proxy
import Sealing
import Stores
import Telemetry
import Testing
import Time

@testable import Gateway

@Suite("Repeated targets")
struct TargetMatchesTests {
  private static let long = String(repeating: "x", count: 2_000)

  /// Returns the results of the targets in this order, and the number of targets that were read.
  private static func results(of targets: [(path: String, query: String)]) -> (matches: [PathMatch], read: Int) {
    var matches = TargetMatches(RandomPool())
    var read = 0
    let results = targets.map { target in
      matches.match(path: target.path.utf8.span, query: target.query.utf8.span) { path, query in
        read += 1
        return path.count.isMultiple(of: 2) ? .notEndpoint : query.isEmpty ? .ambiguous : .unlisted
      }
    }
    return (results, read)
  }

  @Test("A target that equals the last one is not read again, and has the same result")
  func repeated() {
    for target in [("/\(Self.long)", ""), ("/", Self.long), ("/\(Self.long)", "a")] {
      let (matches, read) = Self.results(of: Array(repeating: target, count: 5))
      #expect(read == 1)
      #expect(matches.allSatisfy { $0 == matches[0] })
    }
  }

  @Test("A target that differs in a byte, or in the place of the question mark, is read")
  func different() {
    let targets = [
      ("/\(Self.long)", ""), ("/\(Self.long)y", ""), ("/\(Self.long)", "y"), ("/y\(Self.long)", ""), ("/y", Self.long),
      ("/", "y\(Self.long)"), ("", "/y\(Self.long)"),
    ]
    let (matches, read) = Self.results(of: targets)
    #expect(read == targets.count)
    #expect(matches == targets.map { Self.results(of: [$0]).matches[0] })
  }

  @Test("A target is read again after many others, so the memory is limited")
  func displaced() {
    let others = (0..<20_000).map { ("/\($0)", Self.long) }
    #expect(Self.results(of: [("/", Self.long)] + others + [("/", Self.long)]).read == others.count + 2)
  }

  @Test("A gateway keeps the results of expensive targets alone, and decides a repeated one in the same way")
  func gateway() throws {
    let metrics = MetricsRegistry(workers: 1, policyVersion: "test")
    let gateway = Gateway(
      GatewaySnapshot(policy: try FixturePolicy.with(), keyRing: KeyRing.ephemeral(now: 1_700_000_000)),
      GatewayResources(
        store: MemoryStore(), metrics: metrics, log: DecisionLog(workers: 1, signal: NoSignal(), metrics: metrics) { 0 }
      ),
      worker: 0)
    let targets = [
      ("/~short", 0), ("/authorize?client_id=n1", 0), ("/\(Self.long)", 0), ("/~\(Self.long)", 1),
      ("/?\(Self.long)", 2), ("/~\(Self.long)", 2),
    ]
    for (target, kept) in targets {
      let bytes = Array("GET \(target) HTTP/1.1\r\nHost: gw.example\r\n\r\n".utf8)
      let fields = HeadIndex()
      let head = try RequestHeadParser.parse(bytes.span, length: bytes.count, into: fields)
      let peer = Peer(address: "192.0.2.7", isSecure: true, isLoopback: false)
      let route = gateway.route(head, bytes.span, fields, client: ClientFacts(peer: peer, forwardedHost: nil))
      if target.hasPrefix("/~") {
        guard case .pass = route else {
          Issue.record("not passed")
          return
        }
      }
      #expect(gateway.targetMatches.entries.count { $0 != nil } == kept, "\(target.prefix(20))")
    }
  }

  private struct NoSignal: WakeSignal {
    func signal() {}
    func wait() {}
  }

  @Test("A repeated target gets the decision of the policy in force")
  func reload() async throws {
    try await GatewayFixture.run { gateway in
      for target in ["/~\(Self.long)", "/x/..%2fauthorize?a=\(Self.long)"] {
        for _ in 0..<2 { _ = try await gateway.get(target) }
      }
      #expect(gateway.upstream.recorder.count == 2)
      await gateway.reload { $0.upstream.passPrefixes = ["/app/"] }
      for _ in 0..<2 { _ = try await gateway.get("/~\(Self.long)") }
      #expect(gateway.upstream.recorder.count == 2)
    }
  }
}
