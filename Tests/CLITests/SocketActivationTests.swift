import ClientTestSupport
import Foundation
import HTTP
import Testing

@Suite("Sockets from a service manager")
struct SocketActivationTests {
  /// Opens the sockets in the first argument, each as `KIND PLACE NAME`, and becomes the program in the other arguments
  /// as a service manager starts it. The process in `LISTEN_PID` is this one if `PROCESS` is not set.
  private static let launcher = """
    import os, socket, sys
    names, opened = [], []
    for line in sys.argv[1].split(","):
        kind, place, name = line.split(" ")
        if kind == "file":
            number = os.open(place, os.O_RDONLY)
        else:
            family = socket.AF_UNIX if kind == "unix" else socket.AF_INET
            each = socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            name_of_place = place if kind == "unix" else ("127.0.0.1", int(place))
            each.bind("\\0" + place[1:] if place[0] == "@" else name_of_place)
            if kind in ("tcp", "unix"):
                each.listen(100)
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
    _ = try child.lines(until: " serves ")
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  @Test("A stored socket whose listener the policy no longer has is closed, and its address is free")
  func leftOver() async throws {
    let folder = try Folder()
    var policy = try ServedPolicy()
    let other = try Ports.free(1)[0]
    policy.gateway = ""
    let child = try Self.serve(
      folder, "tcp \(policy.port) listener=127.0.0.1%3A\(policy.port)",
      "tcp \(other) listener=127.0.0.1%3A\(other)", policy: policy.text)
    let lines = try child.lines(until: " serves ")
    #expect(
      lines.contains(
        "proofgate: the policy no longer lists 127.0.0.1:\(other); its socket from the previous process is closed"))
    let response = try await Fetch.get(policy.port, "/")
    #expect(response.status == 503)
    await #expect(throws: (any Error).self) { try await Fetch.get(other, "/") }
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }
}
