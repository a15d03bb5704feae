import Foundation
import Testing

@Suite("proofgate check --online")
struct OnlineCheckTests {
  /// A server in Python that answers each GET for a well-known path with a text, and any other with 404. Without a text
  /// it answers 503.
  private static let script = """
    import http.server, sys
    text = sys.argv[1]
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = "/.well-known/openid-configuration" == self.path
            body = text.encode() if found else b""
            self.send_response(503 if not text else 200 if found else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
    """

  /// Runs the server until the object is released.
  private final class Server {
    private let process = Process()
    let port: Int

    init(_ text: String) throws {
      let output = Pipe()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["python3", "-c", OnlineCheckTests.script, text]
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      port = try #require(Int(line.filter(\.isNumber)))
    }

    deinit {
      // The test process blocks SIGTERM, and its children inherit that.
      kill(process.processIdentifier, SIGKILL)
    }
  }

  private static func document(_ issuer: String, _ more: String) -> String {
    #"{"issuer":"\#(issuer)","token_endpoint":"https://legacy.example/token"\#(more)}"#
  }

  private static let tokens = #","id_token_signing_alg_values_supported":["RS256"]"#

  private static func check(_ port: Int, _ options: String...) throws -> Program.Outcome {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.upstreamPort = port
    let path = try folder.write(
      "policy.yaml",
      policy.text.replacingOccurrences(
        of: "origin: http://127.0.0.1:\(policy.port)", with: "origin: http://127.0.0.1:1"))
    return try Program.run(["check"] + options + [path])
  }

  @Test("ID tokens of another issuer are an error at the place of the issuer, and only with --online")
  func otherIssuer() throws {
    let server = try Server(Self.document("https://legacy.example", Self.tokens))
    let outcome = try Self.check(server.port, "--online")
    #expect(outcome.code == 1)
    #expect(
      outcome.output.contains(
        "policy.yaml:3:11: error: ID tokens of the upstream name the issuer `https://legacy.example`, but "
          + "`gateway.issuer` is `http://127.0.0.1:1`"), "\(outcome.output)")
    #expect(outcome.output.contains("[issuer-differs]"))
    #expect(try Self.check(server.port).code == 0)
  }

  @Test("The same issuer, another one of a server without ID tokens, and no document are no errors")
  func accepted() throws {
    for text in [
      Self.document("http://127.0.0.1:1", Self.tokens), Self.document("https://legacy.example", ""), "none",
    ] {
      let server = try Server(text)
      let outcome = try Self.check(server.port, "--online")
      #expect(outcome.code == 0, "\(outcome.output)")
      #expect(outcome.output.contains("the server has no metadata document") == (text == "none"))
    }
  }

  @Test("A server that does not answer is an error")
  func away() throws {
    let port = try #require(Ports.free(1).first)
    let outcome = try Self.check(port, "--online", "--quiet")
    #expect(outcome.code == 1)
    #expect(outcome.output.contains("the server does not answer"), "\(outcome.output)")
    #expect(outcome.output.contains("[upstream-metadata]"))
  }

  @Test("--online and --no-secrets exclude each other")
  func options() throws {
    let outcome = try Self.check(1, "--online", "--no-secrets")
    #expect(outcome.code == 64)
  }
}
