import ClientTestSupport
import Foundation
import HTTP
import Testing

@Suite("Several addresses of a gateway's server")
struct UpstreamAddressTests {
  @Test("The admin listener shows the requests, the failures and the state of each address that requests have caused")
  func adminListener() async throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    let dead = "127.0.0.1:\(policy.upstreamPort)"
    let usable = "unix:\(folder.path("s"))"
    let text = policy.text.replacingOccurrences(
      of: "url: http://\(dead)", with: "urls: [http://\(dead), \"\(usable)\"]\n  affinity: none")
    try folder.write("policy.yaml", text)
    let server = try UnixUpstreamTests.Server(folder.path("s"))
    let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    for _ in 0..<3 { #expect(try await Fetch.get(policy.port, "/page").status == 200) }
    let ready = try await Fetch.get(policy.adminPort, "/readyz")
    #expect(ready.status == 200)
    for part in [
      #"{"address":"\#(dead)","detail":"Connection refused","in_service":false,"ok":false}"#,
      #"{"address":"\#(usable)","in_service":true,"ok":true}"#,
    ] {
      #expect(Fetch.text(ready).contains(part), "\(Fetch.text(ready))")
    }
    let metrics = Fetch.text(try await Fetch.get(policy.adminPort, "/metrics"))
    for (name, value) in [
      ("in_service{address=\"\(dead)\"}", 0), ("in_service{address=\"\(usable)\"}", 1),
      ("requests_total{address=\"\(dead)\"}", 0), ("requests_total{address=\"\(usable)\"}", 3),
      ("failures_total{address=\"\(dead)\"}", 1), ("failures_total{address=\"\(usable)\"}", 0),
    ] {
      #expect(metrics.contains("proofgate_upstream_address_\(name) \(value)\n"), "\(name)")
    }
    withExtendedLifetime(server) {}
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }
}
