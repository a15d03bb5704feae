import ClientTestSupport
import Reactor
import Testing

@testable import AccessLog

/// Messages to a syslog server.
@Suite("The access log of a syslog server")
struct SyslogTests {
  private static func output(_ path: String) throws -> AccessLogOutput {
    try AccessLogOutput(
      .datagramSocket(path), syslog: AccessLogOutput.Syslog(priority: 190, host: "gw1", process: 42))
  }

  @Test("Each line is a message of RFC 5424 in a datagram of its own, without the line end")
  func messages() async throws {
    let bench = try WriterTests.Bench()
    let server = try DatagramServer(bench.path("s"))
    try bench.log.use(try Self.output(bench.path("s")))
    // More than the queue of a socket holds, so that the writer waits for the server.
    bench.append(0..<500, to: try bench.channel())
    for number in 0..<500 {
      let message = server.receive()
      let parts = message.split(separator: " ", maxSplits: 7).map(String.init)
      #expect(parts.count == 8)
      #expect(parts[0] == "<190>1")
      #expect(parts[1].wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
      #expect(Array(parts[2...6]) == ["gw1", "proofgate", "42", "access", "-"])
      #expect(parts[7] == #"{"v":1,"event":"access","path":"/\#(number)"}"#)
    }
    #expect(bench.dropped == 0)
    #expect(await bench.stop())
  }

  @Test("A server that starts again gets the messages after that")
  func restarted() async throws {
    let bench = try WriterTests.Bench()
    var server: DatagramServer? = try DatagramServer(bench.path("s"))
    try bench.log.use(try Self.output(bench.path("s")))
    let channel = try bench.channel()
    bench.append(0..<1, to: channel)
    #expect(server?.receive().hasSuffix("\"/0\"}") == true)
    server = nil
    bench.append(1..<2, to: channel)
    bench.eventually("the loss") { bench.dropped == 1 }
    let next = try DatagramServer(bench.path("s"))
    bench.append(2..<3, to: channel)
    #expect(next.receive().hasSuffix("\"/2\"}"))
    #expect(await bench.stop())
  }
}
