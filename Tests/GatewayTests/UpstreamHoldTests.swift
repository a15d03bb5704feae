import Policy
import Testing
import Time

@testable import Gateway

@Suite("The time for which a request holds a claim")
struct UpstreamHoldTests {
  @Test("I-token: a claim lives longer than an upstream request, which must begin within ten seconds")
  func hold() {
    var upstream = UpstreamSettings()
    upstream.connectTimeout = 5_000
    upstream.responseTimeout = 60_000
    let hold = UpstreamHold(upstream, now: 1_000)
    #expect(hold.lease == 105)
    #expect(hold.permitsRequest(at: 1_000))
    #expect(hold.permitsRequest(at: 10_999))
    #expect(!hold.permitsRequest(at: 11_000))
  }
}
