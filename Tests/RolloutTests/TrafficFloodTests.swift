import Testing

@testable import Rollout

/// Logs that contain many random client ids. Anyone can send requests with any client id.
@Suite("Logs with random client ids")
struct TrafficFloodTests {
  private static func line(
    _ client: String, peer: String, endpoint: String = "authorization", status: Int = 400, redirect: String = "a:/b"
  ) -> [UInt8] {
    Array(
      """
      {"event":"decision","time":"2026-11-24T10:00:00.000Z","endpoint":"\(endpoint)","client":"\(client)",\
      "decision":"would_reject","rule":"client-unknown","upstream_status":\(status),"peer":"\(peer)",\
      "redirect_uri":"\(redirect)"}
      """.utf8)
  }

  private static func flood(_ traffic: inout Traffic, _ name: String, _ count: Int, peer: (Int) -> String) {
    for number in 0..<count { traffic.add(line("\(name)\(number)", peer: peer(number))) }
  }

  @Test("Random ids of one network hide no id of another network, and none that the server has accepted")
  func oneNetwork() {
    var traffic = Traffic()
    traffic.add(Self.line("early", peer: "192.0.2.1"))
    traffic.add(Self.line("accepted", peer: "198.51.100.1", endpoint: "token", status: 200))
    Self.flood(&traffic, "x", 13_000) { "198.51.100.\($0 % 250)" }
    traffic.add(Self.line("late", peer: "2001:db8::1"))
    Self.flood(&traffic, "y", 13_000) { "198.51.100.\($0 % 250)" }
    traffic.removeLeastUsed()
    for id in ["early", "accepted", "late"] { #expect(traffic.clients[id]?.all.requests == 1, "\(id)") }
    #expect(traffic.clients.count == Traffic.maximumClients + 1)
    #expect(traffic.omittedRequests == 26_003 - traffic.clients.count)
    #expect(traffic.clients.values.reduce(traffic.omittedRequests) { $0 + $1.all.requests } == traffic.requestLines)
    #expect(StarterPolicy(traffic, upstream: nil).clients.first?.traffic.id == "accepted")
    let report = ReadinessReport(traffic, listed: nil)
    #expect(report.clients.first?.client == "accepted")
    #expect(report.text.split(separator: "\n").count == 102)
    #expect(report.text.contains("and 9901 further ids that the policy does not list, with 9901 requests"))
  }

  @Test("Random ids of as many networks as there are places hide no id with more requests, and none of the policy")
  func manyNetworks() {
    var traffic = Traffic(listed: ["listed"])
    for id in ["listed", "real", "real"] { traffic.add(Self.line(id, peer: "192.0.2.1")) }
    Self.flood(&traffic, "x", 14_000) { "10.\($0 / 250 % 250).\($0 % 250).1" }
    traffic.removeLeastUsed()
    #expect(traffic.clients["listed"]?.all.requests == 1)
    #expect(traffic.clients["real"]?.all.requests == 2)
    #expect(traffic.clients.count == Traffic.maximumClients + 1)
  }

  @Test("While a log is read, the number of clients and the length of the texts of each are bounded")
  func bounded() throws {
    var traffic = Traffic()
    var most = 0
    for number in 0..<12_500 {
      traffic.add(Self.line("x\(number)", peer: "198.51.100.1"))
      most = max(most, traffic.clients.count)
    }
    #expect(most == Traffic.maximumClients + Traffic.unprovenMargin)
    for number in 0..<40 {
      let long = String(repeating: "\(number)-", count: 4_000)
      traffic.add(Self.line("one", peer: "192.0.2.1", redirect: "a:/\(long)"))
      traffic.add(Self.line(long, peer: "192.0.2.1"))
    }
    let one = try #require(traffic.clients["one"])
    #expect(one.redirectURIs.counts.keys.reduce(0) { $0 + $1.utf8.count } <= 16 * 1024)
    #expect(one.redirectURIs.counts.count == 15 && one.redirectURIs.omitted == 25)
    #expect(traffic.clients.keys.allSatisfy { $0.utf8.count <= 1_027 })
  }

  @Test("An access log names the network of each request")
  func accessLog() {
    var traffic = Traffic()
    func add(_ id: String, _ peer: String) {
      let request = "GET /a?response_type=code&client_id=\(id) HTTP/1.1"
      traffic.add(Array(#"\#(peer) - - [24/Nov/2026:10:00:00 +0000] "\#(request)" 302 0 "-" "-""#.utf8))
    }
    add("real", "192.0.2.7")
    for number in 0..<13_000 { add("x\(number)", "198.51.100.9") }
    #expect(traffic.clients["real"] != nil && traffic.omittedRequests > 0)
  }

  @Test("Places are shared fairly")
  func fairPart() {
    #expect(Traffic.fairPart(of: 10, [100, 1, 2]) == 7)
    #expect(Traffic.fairPart(of: 10, [6, 6]) == 5)
    #expect(Traffic.fairPart(of: 2, [1, 1, 1]) == 0)
    #expect(Traffic.fairPart(of: 9, [4, 5]) == 9)
  }
}
