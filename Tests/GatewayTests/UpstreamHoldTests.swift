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
    let hold = UpstreamHold(upstream, bodyTimeout: 90_000, now: 1_000)
    // 5 s for a connection, 5 s to open it, 60 s and 90 s for the response, 10 s for the store, and the rounding.
    #expect(hold.lease == 171)
    #expect(hold.permitsRequest(at: 1_000))
    #expect(hold.permitsRequest(at: 10_999))
    #expect(!hold.permitsRequest(at: 11_000))
  }
}
