import ClientTestSupport
import Foundation
import HTTP
import Reactor
import TLSTestSupport
import Testing

@Suite("A listener on a Unix socket")
struct UnixListenerTests {
  /// Connects to the Unix socket, sends the bytes that follow, and writes the answer and its own error to the output. TLS
  /// begins after the PROXY protocol's line, if there is one.
  private static let client = """
    import socket, ssl, sys
    name, proxy, tls, request = sys.argv[1:5]
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(120)
    try:
        connection.connect("\\0" + name[1:] if name[0] == "@" else name)
        connection.sendall(proxy.encode())
        if tls:
            context = ssl._create_unverified_context()
            connection = context.wrap_socket(connection)
        connection.sendall(request.encode())
        while True:
            data = connection.recv(65536)
            if not data: break
            sys.stdout.write(data.decode())
    except OSError as error:
        sys.stdout.write(type(error).__name__)
    """

  /// Sends a request with `Connection: close` and returns the response, or the name of the error in Python.
  private static func get(
    _ name: String, _ port: Int, proxy: String = "", usesTLS: Bool = false, fields: String = ""
  ) async throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    let request = "GET /page HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\(fields)\r\n"
    process.arguments = ["python3", "-c", client, name, proxy, usesTLS ? "tls" : "", request]
    process.standardOutput = output
    try process.run()
    return try await OSThread.run("client") {
      String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
  }

  /// A gateway that listens only on a Unix socket, in front of a server that answers with the fields about the client.
  private struct Served {
    let folder: Folder
    let name: String
    let policy: ServedPolicy
    let server: UnixUpstreamTests.Server
    let text: String

    init(_ name: String? = nil, settings: String = "", gateway: String = "") throws {
      folder = try Folder()
      self.name = name ?? folder.path("s")
      let upstream = folder.path("u")
      server = try UnixUpstreamTests.Server(upstream)
      var policy = try ServedPolicy()
      policy.gateway = gateway
      self.policy = policy
      text = policy.text
        .replacingOccurrences(of: "url: http://127.0.0.1:\(policy.upstreamPort)", with: "url: unix:\(upstream)")
        .replacingOccurrences(
          of: "address: \"127.0.0.1:\(policy.port)\"", with: "address: \"unix:\(self.name)\"\(settings)")
      try folder.write("policy.yaml", text)
    }

    func start() throws -> Child {
      let child = try Child(["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")])
      let line = try child.lines(until: " serves ").last ?? ""
      #expect(line.contains("on unix:\(name), admin on"))
      return child
    }

    func attributes() throws -> [FileAttributeKey: Any] { try FileManager.default.attributesOfItem(atPath: name) }
  }

  private static func end(_ child: Child) {
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  @Test("It answers, its file has the owner and mode of the policy, and its peers have no address")
  func path() async throws {
    let served = try Served(settings: ", mode: \"0606\", owner: \"\(getuid()):\(getgid())\"")
    let child = try served.start()
    let attributes = try served.attributes()
    #expect(attributes[.posixPermissions] as? Int == 0o606)
    #expect(attributes[.ownerAccountID] as? Int == Int(getuid()))
    let answer = try await Self.get(served.name, served.policy.port, fields: "X-Forwarded-For: 192.0.2.1\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 200"))
    #expect(answer.contains("\nX-Forwarded-For=unknown\n"))
    #expect(answer.contains("\nForwarded=for=unknown;proto=http;host=\"127.0.0.1:\(served.policy.port)\"\n"))
    Self.end(child)
    #expect(!FileManager.default.fileExists(atPath: served.name))
  }

  @Test("An abstract name has no file")
  func abstract() async throws {
    let served = try Served("@proofgate-\(UUID().uuidString)")
    let child = try served.start()
    #expect(try await Self.get(served.name, served.policy.port).hasPrefix("HTTP/1.1 200"))
    Self.end(child)
    #expect(try await Self.get(served.name, served.policy.port) == "ConnectionRefusedError")
  }

  @Test("With `local: true` its peers are on loopback, and with `unix` in `trusted_proxies` they name the client")
  func peers() async throws {
    let local = try Served(settings: ", local: true")
    let first = try local.start()
    let answer = try await Self.get(local.name, local.policy.port, fields: "X-Forwarded-For: 192.0.2.1\r\n")
    #expect(answer.contains("\nX-Forwarded-For=127.0.0.1\n"))
    Self.end(first)
    let trusting = try Served(gateway: "  trusted_proxies: [unix]\n")
    let second = try trusting.start()
    let named = try await Self.get(trusting.name, trusting.policy.port, fields: "X-Forwarded-For: 192.0.2.1\r\n")
    #expect(named.contains("\nX-Forwarded-For=192.0.2.1, unknown\n"))
    Self.end(second)
  }

  @Test("TLS and the PROXY protocol work")
  func layers() async throws {
    let served = try Served(
      settings: ", proxy_protocol: true, tls: { certificate: gateway.pem, private_key: gateway.key }",
      gateway: "  trusted_proxies: [unix]\n")
    for file in ["gateway.pem", "gateway.key"] {
      try served.folder.write(file, String(decoding: try TestCertificates.bytes(file), as: UTF8.self))
    }
    let child = try served.start()
    let answer = try await Self.get(
      served.name, served.policy.port, proxy: "PROXY TCP4 192.0.2.7 192.0.2.8 4000 443\r\n", usesTLS: true)
    #expect(answer.contains("\nForwarded=for=192.0.2.7;proto=https;host=\"127.0.0.1:\(served.policy.port)\"\n"))
    Self.end(child)
  }

  @Test("The file of a process that was killed is replaced, and that of a running process is an error")
  func staleFile() async throws {
    let served = try Served()
    let killed = try served.start()
    killed.signal(SIGKILL)
    _ = killed.wait()
    #expect(FileManager.default.fileExists(atPath: served.name))
    let child = try served.start()
    let other = served.text.replacingOccurrences(
      of: "admin: 127.0.0.1:\(served.policy.adminPort)", with: "admin: off")
    try served.folder.write("other.yaml", other)
    let second = try Child([
      "serve", "--policy", served.folder.path("other.yaml"), "--log", served.folder.path("log2"),
    ])
    let lines = try second.lines(until: "cannot listen on")
    #expect(lines.last?.contains("cannot listen on unix:\(served.name): Address already in use") == true)
    #expect(second.wait() == 2)
    #expect(try await Self.get(served.name, served.policy.port).hasPrefix("HTTP/1.1 200"))
    Self.end(child)
  }

  @Test("A path that names another file, and an owner that does not exist, are errors")
  func refusedStart() throws {
    for (settings, message) in [
      ("", "the file is not a socket; remove it, or use another path"),
      (", owner: no-such-user", "/etc/passwd has no user `no-such-user`; create it, or write the number of the user"),
      (", owner: \":no-such-group\"", "/etc/group has no group `no-such-group`"),
    ] {
      let served = try Served(settings: settings)
      if settings.isEmpty { try served.folder.write("s", "kept") }
      let child = try Child([
        "serve", "--policy", served.folder.path("policy.yaml"), "--log", served.folder.path("log"),
      ])
      #expect(try child.lines(until: "cannot listen on unix:").last?.contains(message) == true)
      #expect(child.wait() == 2)
      #expect(FileManager.default.fileExists(atPath: served.name) == settings.isEmpty)
    }
  }
}
