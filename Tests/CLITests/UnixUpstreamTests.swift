import ClientTestSupport
import Foundation
import HTTP
import TLSTestSupport
import Testing

@Suite("An upstream on a Unix socket")
struct UnixUpstreamTests {
  /// A server in Python that answers each GET with its `Host` field, its path, and a line for each field of the request.
  private static let server = """
    import http.server, socketserver, ssl, sys
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        def address_string(self): return "unix"
        def do_GET(self):
            lines = [f"{name}={value}\\n" for name, value in self.headers.items()]
            body = (self.headers["Host"] + self.path + "\\n" + "".join(lines)).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    name = sys.argv[1]
    server = socketserver.ThreadingUnixStreamServer("\\0" + name[1:] if name[0] == "@" else name, Handler)
    server.daemon_threads = True
    if len(sys.argv) > 2:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    print("listening", flush=True)
    server.serve_forever()
    """

  /// Runs the server until the object is released.
  final class Server {
    private let process = Process()

    /// - Parameter certificate: The name of its certificate and key in `TestCertificates`; `nil` for plaintext.
    init(_ name: String, certificate: String? = nil) throws {
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      let files = certificate.map { ["\($0).pem", "\($0).key"].map(TestCertificates.path) } ?? []
      process.arguments = ["python3", "-c", UnixUpstreamTests.server, name] + files
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      try #require(said.hasPrefix("listening"))
    }

    deinit {
      // The test process blocks SIGTERM, and its children inherit that.
      kill(process.processIdentifier, SIGKILL)
    }
  }

  @Test("Requests reach a server at a path and at an abstract name, and the gateway is ready", arguments: ["/", "@"])
  func reached(kind: String) async throws {
    let folder = try Folder()
    let name = kind == "/" ? folder.path("s") : "@proofgate-\(UUID().uuidString)"
    let policy = try ServedPolicy()
    let text = policy.text.replacingOccurrences(
      of: "url: http://127.0.0.1:\(policy.upstreamPort)", with: "url: unix:\(name)")
    try folder.write("policy.yaml", text)
    let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
    _ = try child.lines(until: " serves ")
    let before = try await Fetch.get(policy.adminPort, "/readyz")
    #expect(before.status == 503)
    #expect(Fetch.text(before).contains("unix:\(name) cannot be reached"))
    #expect(try await Fetch.get(policy.port, "/page").status == 503)
    let server = try Server(name)
    let answer = try await Fetch.get(policy.port, "/page")
    #expect(Fetch.text(answer).hasPrefix("127.0.0.1:\(policy.port)/page\n"))
    // A result of the probe is used again for two seconds.
    var status = 503
    for _ in 0..<1_200 where status != 200 {
      try await Task.sleep(for: .milliseconds(50))
      status = try await Fetch.get(policy.adminPort, "/readyz").status
    }
    #expect(status == 200)
    withExtendedLifetime(server) {}
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  @Test("With TLS, `tls.server_name` is the name in the server's certificate and the host of requests")
  func tls() async throws {
    for (name, status) in [("gw.example", 200), ("other.example", 502)] {
      let folder = try Folder()
      let policy = try ServedPolicy()
      let text = policy.text.replacingOccurrences(
        of: "url: http://127.0.0.1:\(policy.upstreamPort)",
        with: "url: unix:\(folder.path("s"))\n"
          + "  tls: { server_name: \(name), ca: \(TestCertificates.path("server-ca.pem")) }")
      try folder.write("policy.yaml", text)
      let server = try Server(folder.path("s"), certificate: "gateway")
      let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
      _ = try child.lines(until: " serves ")
      let answer = try await Fetch.get(policy.port, "/page")
      #expect(answer.status == status)
      #expect(Fetch.text(answer).hasPrefix("gw.example/page\n") == (status == 200))
      withExtendedLifetime(server) {}
      child.signal(SIGTERM)
      #expect(child.wait() == 0)
    }
  }
}
