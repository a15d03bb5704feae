import HTTP
import OAuth
import Policy
import PortTestSupport
import Reactor
import TLS
import TLSTestSupport
import Testing
import Time

@testable import Probe

@Suite("The client of a probe, over sockets")
struct ProbeClientTests {
  private struct Outcome: Sendable {
    let result: Result<ProbeAnswer, ProbeFailure>
    let head: String
  }

  private static func ask(
    _ answer: [UInt8]?, certificate: String? = nil, scheme: Origin.Scheme = .http, authority: String = "server-ca",
    timeout: Milliseconds = 20_000, _ request: ProbeRequest = ProbeRequest(.get, "/path")
  ) async throws -> Outcome {
    try await ProbeWorker.run { worker in
      let server = try ScriptedServer(on: worker, certificate: certificate, answer)
      let client = try ProbeClient(
        worker.poller, ProbeTarget(origin: Origin(scheme: scheme, host: "localhost", port: server.port)),
        authorities: try TestCertificates.chain(authority),
        limits: .init(timeout: timeout, pause: 0, userAgent: "proofgate-probe/test"))
      do throws(ProbeFailure) {
        let answer = try await client.send(request)
        return Outcome(result: .success(answer), head: server.head)
      } catch {
        return Outcome(result: .failure(error), head: server.head)
      }
    }
  }

  private static func response(_ body: [UInt8], status: String = "200 OK") -> [UInt8] {
    Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\nX-A: b\r\n\r\n".utf8) + body
  }

  private static func failure(_ outcome: Outcome) -> ProbeFailure? {
    guard case .failure(let failure) = outcome.result else { return nil }
    return failure
  }

  @Test("A request names the probe, and its secrets are in the field and the body only", arguments: [false, true])
  func request(_ usesTLS: Bool) async throws {
    var request = ProbeRequest(.post, "/token", [.init("code", "a b&c")])
    request.authorization = BasicCredentials(user: "id", password: Secret("secret")).header
    let outcome = try await Self.ask(
      Self.response(Array("{}".utf8), status: "400 Bad Request"), certificate: usesTLS ? "gateway" : nil,
      scheme: usesTLS ? .https : .http, request)
    let answer = try outcome.result.get()
    #expect(answer.status == 400)
    #expect(answer.headers["x-a"] == "b")
    #expect(answer.body == Array("{}".utf8))
    #expect(outcome.head.hasPrefix("POST /token HTTP/1.1\r\n"))
    #expect(outcome.head.contains("\r\nUser-Agent: proofgate-probe/test\r\n"))
    #expect(outcome.head.contains("\r\nContent-Length: 14\r\n"))
  }

  @Test("A body of 10 MB is cut, with or without an announced length")
  func longBody() async throws {
    let body = [UInt8](repeating: 0x61, count: 10_000_000)
    let open = Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + body
    for answer in [Self.response(body), open] {
      #expect(try await Self.ask(answer).result.get().body.count == ProbeAnswer.bodyLimit)
    }
  }

  @Test(
    "An answer that is not strict HTTP/1.1, or incomplete, is a failure with its reason",
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
      "HTTP/1.1 200 OK\r\nbad field\r\n\r\n",
    ])
  func garbage(_ text: String) async throws {
    guard case .malformed(let reason)? = Self.failure(try await Self.ask(Array(text.utf8))) else {
      Issue.record("not refused")
      return
    }
    #expect(!reason.isEmpty)
  }

  @Test("A connection that ends early is a failure")
  func incomplete() async throws {
    #expect(
      Self.failure(try await Self.ask(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi".utf8))) == .incomplete)
    #expect(Self.failure(try await Self.ask([])) == .incomplete)
  }

  @Test("A silent server ends the request at its deadline")
  func silent() async throws {
    #expect(Self.failure(try await Self.ask(nil, timeout: 50)) == .timedOut)
  }

  @Test("Certificates are verified, and a server without TLS is recognised")
  func tls() async throws {
    let answer = Self.response([])
    for name in ["other", "expired", "alone"] {
      guard case .tls(.untrusted)? = Self.failure(try await Self.ask(answer, certificate: name, scheme: .https)) else {
        Issue.record("\(name) is trusted")
        continue
      }
    }
    guard case .tls? = Self.failure(try await Self.ask(answer, scheme: .https)) else {
      Issue.record("plain HTTP is taken for TLS")
      return
    }
  }

  @Test("A port without a server is a failure with the address")
  func refused() async throws {
    let failure = try await ProbeWorker.run { worker -> ProbeFailure? in
      let unused = try ReservedPort()
      defer { withExtendedLifetime(unused) {} }
      let origin = Origin(scheme: .http, host: "127.0.0.1", port: unused.number)
      let client = try ProbeClient(
        worker.poller, ProbeTarget(origin: origin), authorities: nil,
        limits: .init(timeout: 60_000, pause: 0, userAgent: "x"))
      do throws(ProbeFailure) {
        _ = try await client.send(ProbeRequest(.get, "/"))
        return nil
      } catch {
        return error
      }
    }
    #expect(failure?.description.contains("Connection refused") == true)
  }

  @Test(
    "A target is a strict URL",
    arguments: [
      ("http://127.0.0.1:9000", "http://127.0.0.1:9000"),
      ("https://ID.example.com/auth/", "https://id.example.com/auth"),
      ("http://[::1]:9000/", "http://[::1]:9000"), ("127.0.0.1:9000", nil), ("ftp://x", nil), ("http://u@h/", nil),
      ("http://h/?q", nil), ("http://h/#f", nil), ("http://h:0/", nil),
    ] as [(String, String?)])
  func target(_ text: String, _ expected: String?) {
    #expect(ProbeTarget(parsing: text)?.description == expected)
  }
}
