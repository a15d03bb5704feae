import ClientTestSupport
import Foundation
import HTTP
import Testing

@Suite("Sockets from a service manager")
struct SocketActivationTests {
  /// Opens the sockets in the first argument, each as `KIND PLACE NAME`, and becomes the program in the other arguments
  /// as a service manager starts it. The process in `LISTEN_PID` is this one if `PROCESS` is not set.
  private static let launcher = """
    import os, socket, sys, time
    names, opened = [], []
    for line in sys.argv[1].split(","):
        kind, place, name = line.split(" ")
        if kind == "file":
            number = os.open(place, os.O_RDONLY)
        else:
            is_unix = kind in ("unix", "dead", "held")
            family = socket.AF_UNIX if is_unix else socket.AF_INET
            each = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            name_of_place = place if is_unix else ("127.0.0.1", int(place))
            each.bind("\\0" + place[1:] if place[0] == "@" else name_of_place)
            if kind == "tcp" or is_unix:
                each.listen(100)
            if kind == "dead":
                each.shutdown(socket.SHUT_RDWR)
            if kind == "held" and os.fork() == 0:
                while not os.path.exists(place + ".end"):
                    time.sleep(0.01)
                each.shutdown(socket.SHUT_RDWR)
                os._exit(0)
            number = each.detach()
        names.append(name)
        opened.append(os.dup2(number, 100 + len(opened)))
        os.close(number)
    for index, number in enumerate(opened):
        os.dup2(number, 3 + index)
    os.environ.update(
        LISTEN_FDS=str(len(opened)), LISTEN_FDNAMES=":".join(names),
        LISTEN_PID=os.environ.get("PROCESS", str(os.getpid())))
    os.execv(sys.argv[2], sys.argv[2:])
    """

  private static func serve(
    _ folder: Folder, _ sockets: String..., policy: String, environment: [String: String] = [:]
  ) throws -> Child {
    try folder.write("policy.yaml", policy)
    return try Child(
      ["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")], environment: environment,
      launcher: ["python3", "-c", launcher, sockets.joined(separator: ",")])
  }

  @Test("A listener uses the socket with its address, also for Unix sockets, the admin listener and several workers")
  func used() async throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    policy.workers = 3
    let text = policy.text.replacingOccurrences(
      of: "  admin:", with: "    - { address: \"unix:\(folder.path("s"))\", local: true }\n  admin:")
    // A second bind of one of these addresses would fail.
    let child = try Self.serve(
      folder, "tcp \(policy.port) web.socket", "unix \(folder.path("s")) local.socket",
      "tcp \(policy.adminPort) admin.socket", policy: text)
    let last = try child.lines(until: " serves ").last
    #expect(last?.contains("127.0.0.1:\(policy.port), unix:\(folder.path("s"))") == true)
    for port in [policy.port, policy.port, policy.port, policy.adminPort] {
      let response = try await Fetch.get(port, "/healthz")
      #expect(response.status == (port == policy.port ? 503 : 200))
    }
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
    // The file of a Unix socket belongs to the socket unit.
    #expect(FileManager.default.fileExists(atPath: folder.path("s")))
  }

  @Test("A socket that no listener uses, and a descriptor that is no listening socket, are errors that name it")
  func unusable() throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    let other = try Ports.free(1)[0]
    let unused = try Self.serve(
      folder, "tcp \(policy.port) web.socket", "tcp \(other) old.socket", policy: policy.text)
    #expect(unused.wait() == 1)
    #expect(
      unused.readErrors().contains(
        "error: the service manager passes sockets that no listener of the policy uses: 127.0.0.1:\(other) "
          + "(`old.socket`); add listeners with these addresses, or change the socket unit"))
    for wrong in ["udp \(other) dns.socket", "file /dev/null fifo.socket"] {
      let child = try Self.serve(folder, "tcp \(policy.port) web.socket", wrong, policy: policy.text)
      #expect(child.wait() == 1)
      let name = wrong.split(separator: " ")[2]
      #expect(
        child.readErrors().contains(
          "error: the inherited descriptor 4 (`\(name)`) is not a stream socket that listens; correct the socket unit"))
    }
  }

  @Test("Sockets for another process are ignored")
  func otherProcess() throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    let child = try Self.serve(
      folder, "tcp \(try Ports.free(1)[0]) web.socket", policy: policy.text, environment: ["PROCESS": "1"])
    let lines = try child.lines(until: " serves ")
    let warning = "the service manager passes sockets to another process, as `LISTEN_PID` says; they are not used"
    #expect(lines.contains { $0.contains(warning) })
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  private static func withUnixListener(_ folder: Folder, _ policy: ServedPolicy, _ settings: String = "") -> String {
    policy.text.replacingOccurrences(
      of: "  admin:", with: "    - { address: \"unix:\(folder.path("s"))\"\(settings) }\n  admin:")
  }

  @Test("A stored Unix socket that was shut down is replaced, and that of a socket unit is an error")
  func shutDown() throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    let text = Self.withUnixListener(folder, policy)
    let stored = try Self.serve(folder, "dead \(folder.path("s")) listener=x", policy: text)
    let lines = try stored.lines(until: " serves ")
    let place = "unix:\(folder.path("s"))"
    #expect(lines.contains("proofgate: the stored socket \(place) (`listener=x`) no longer listens; it is closed"))
    stored.signal(SIGTERM)
    #expect(stored.wait() == 0)
    let unit = try Self.serve(folder, "dead \(folder.path("s")) web.socket", policy: text)
    #expect(unit.wait() == 1)
    #expect(
      unit.readErrors().contains(
        "error: the inherited descriptor 3 (`web.socket`) no longer listens, because a process has shut it down; restart "
          + "the socket unit"))
  }

  @Test("If another process shuts a Unix socket down, the other listeners still serve, and the gateway ends in time")
  func shutDownLater() async throws {
    let folder = try Folder()
    let policy = try ServedPolicy()
    let child = try Self.serve(
      folder, "held \(folder.path("s")) web.socket", policy: Self.withUnixListener(folder, policy))
    _ = try child.lines(until: " serves ")
    try folder.write("s.end", "")
    // The worker is informed when the child of the launcher has ended the listening.
    var isAccepting = true
    for _ in 0..<1_000 where isAccepting { isAccepting = try Self.accepts(folder.path("s")) }
    #expect(!isAccepting)
    let response = try await Fetch.get(policy.port, "/")
    #expect(response.status == 503)
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  /// Returns true if connections to the Unix socket are not refused.
  private static func accepts(_ path: String) throws -> Bool {
    let client = Process()
    client.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    client.arguments = [
      "python3", "-c", "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])", path,
    ]
    client.standardError = FileHandle.nullDevice
    try client.run()
    client.waitUntilExit()
    return client.terminationStatus == 0
  }

  @Test("An owner that the machine does not know is the reported error, and not a listener that is missing")
  func unknownOwner() throws {
    let folder = try Folder()
    let text = Self.withUnixListener(folder, try ServedPolicy(), ", owner: no-such-user")
    for name in ["listener=unix%3A\(folder.path("s"))", "web.socket"] {
      try? FileManager.default.removeItem(atPath: folder.path("s"))
      let child = try Self.serve(folder, "unix \(folder.path("s")) \(name)", policy: text)
      #expect(child.wait() == 2)
      let errors = child.readErrors()
      #expect(errors.contains("/etc/passwd has no user `no-such-user`") && !errors.contains("no longer lists"))
      #expect(!errors.contains("no listener of the policy uses"))
    }
  }

  @Test("A stored socket whose listener the policy no longer has is closed, and its address is free")
  func leftOver() async throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    let other = try Ports.free(1)[0]
    policy.gateway = ""
    let child = try Self.serve(
      folder, "tcp \(policy.port) listener=127.0.0.1%3A\(policy.port)",
      "tcp \(other) listener=127.0.0.1%3A\(other)", "unix \(folder.path("s")) listener=unix%3A\(folder.path("s"))",
      policy: policy.text)
    let lines = try child.lines(until: " serves ")
    #expect(
      lines.contains(
        "proofgate: the policy no longer lists 127.0.0.1:\(other); its socket from the previous process is closed"))
    let response = try await Fetch.get(policy.port, "/")
    #expect(response.status == 503)
    await #expect(throws: (any Error).self) { try await Fetch.get(other, "/") }
    #expect(!FileManager.default.fileExists(atPath: folder.path("s")))
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }
}
