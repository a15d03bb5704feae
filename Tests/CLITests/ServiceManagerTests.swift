import Foundation
import Testing

@Suite("A service manager that starts the gateway")
struct ServiceManagerTests {
  /// A service manager in Python, which prints each message that it receives on one line.
  private static let program = """
    import socket, sys
    name = sys.argv[1]
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind("\\0" + name[1:] if name[0] == "@" else name)
    receiver.settimeout(60)
    if sys.argv[2] == "full":
        filler = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        filler.connect(receiver.getsockname())
        filler.setblocking(False)
        count = 0
        try:
            while True:
                filler.send(b"filler")
                count += 1
        except BlockingIOError:
            pass
    print("listening", flush=True)
    if sys.argv[2] == "full":
        sys.stdin.readline()
        for _ in range(count):
            receiver.recv(4096)
    while True:
        print(receiver.recv(4096).decode().replace("\\n", " "), flush=True)
    """

  private final class Manager {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()
    private var unread = ""

    /// - Parameter isBusy: True if the queue of messages is full until `becomeReady`.
    init(_ name: String, isBusy: Bool = false) throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["python3", "-c", ServiceManagerTests.program, name, isBusy ? "full" : "free"]
      process.standardInput = input
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      try #require(message() == "listening")
    }

    deinit {
      // The test process blocks SIGTERM, and its children inherit that.
      kill(process.processIdentifier, SIGKILL)
    }

    func becomeReady() { input.fileHandleForWriting.write(Data("\n".utf8)) }

    /// The next message; `nil` if the service manager has ended, because it received nothing for a minute.
    func message() -> String? {
      while true {
        if let end = unread.firstIndex(of: "\n") {
          defer { unread.removeSubrange(...end) }
          return String(unread[..<end])
        }
        let data = output.fileHandleForReading.availableData
        if data.isEmpty { return nil }
        unread += String(decoding: data, as: UTF8.self)
      }
    }
  }

  private static func serve(_ folder: Folder, _ environment: [String: String]) throws -> Child {
    try folder.write("policy.yaml", try ServedPolicy().text)
    return try Child(
      ["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")], environment: environment)
  }

  @Test(
    "Start, reload, refused reload and drain are reported to a socket at a path or at an abstract name",
    arguments: ["/", "@"])
  func life(kind: String) throws {
    let folder = try Folder()
    let name = kind == "/" ? folder.path("n") : "@proofgate-\(UUID().uuidString)"
    let manager = try Manager(name)
    let child = try Self.serve(folder, ["NOTIFY_SOCKET": name])
    let start = try #require(manager.message())
    #expect(start.hasPrefix("READY=1 STATUS=policy "))
    #expect(start.hasSuffix(" with 1 client"))
    let good = try folder.read("policy.yaml")
    for text in [good, good.replacingOccurrences(of: "version: 1", with: "version: 0")] {
      try folder.write("policy.yaml", text)
      child.signal(SIGHUP)
      let begin = try #require(manager.message())
      #expect(begin.hasPrefix("RELOADING=1 MONOTONIC_USEC="))
      let end = manager.message()
      #expect(end == start)
    }
    child.signal(SIGTERM)
    // The drain may take 30 s, and 10 s are added for the log and the store.
    let stop = manager.message()
    #expect(stop == "STOPPING=1 EXTEND_TIMEOUT_USEC=40000000")
    #expect(child.wait() == 0)
  }

  @Test("The report that the gateway serves waits for room in the queue of the service manager")
  func fullQueue() throws {
    let folder = try Folder()
    let manager = try Manager(folder.path("n"), isBusy: true)
    let child = try Self.serve(folder, ["NOTIFY_SOCKET": folder.path("n")])
    _ = try child.lines(until: " serves ")
    manager.becomeReady()
    #expect(manager.message()?.hasPrefix("READY=1 ") == true)
    child.signal(SIGTERM)
    #expect(manager.message()?.hasPrefix("STOPPING=1 ") == true)
    #expect(child.wait() == 0)
  }

  @Test("Signs of life are sent if the service manager expects them of this process")
  func watchdog() throws {
    let folder = try Folder()
    let manager = try Manager(folder.path("n"))
    let child = try Self.serve(folder, ["NOTIFY_SOCKET": folder.path("n"), "WATCHDOG_USEC": "300000"])
    let start = manager.message()
    #expect(start?.hasPrefix("READY=1 ") == true)
    for _ in 0..<3 {
      let sign = manager.message()
      #expect(sign == "WATCHDOG=1")
    }
    child.signal(SIGTERM)
    #expect(child.wait() == 0)
  }

  @Test("No signs of life are sent for another process, and a socket that does not exist is only a warning")
  func other() throws {
    let folder = try Folder()
    let manager = try Manager(folder.path("n"))
    let environment = ["NOTIFY_SOCKET": folder.path("n"), "WATCHDOG_USEC": "3000", "WATCHDOG_PID": "1"]
    let child = try Self.serve(folder, environment)
    let start = manager.message()
    #expect(start?.hasPrefix("READY=1 ") == true)
    Thread.sleep(forTimeInterval: 0.2)
    child.signal(SIGTERM)
    let next = manager.message()
    #expect(next?.hasPrefix("STOPPING=1 ") == true)
    #expect(child.wait() == 0)

    let second = try Folder()
    let alone = try Self.serve(second, ["NOTIFY_SOCKET": "/nonexistent/socket"])
    _ = try alone.lines(until: "the service manager cannot be informed: No such file or directory")
    alone.signal(SIGTERM)
    #expect(alone.wait() == 0)
  }

  @Test("The sockets of listeners are put in the descriptor store, and removed when a reload removes the listener")
  func store() throws {
    let folder = try Folder()
    let manager = try Manager(folder.path("n"))
    var policy = try ServedPolicy()
    policy.workers = 2
    let two = policy.text.replacingOccurrences(
      of: "  admin:", with: "    - { address: \"unix:\(folder.path("s"))\", local: true }\n  admin:")
    try folder.write("policy.yaml", two)
    let child = try Child(
      ["serve", "--policy", folder.path("policy.yaml"), "--log", folder.path("log")],
      environment: ["NOTIFY_SOCKET": folder.path("n"), "FDSTORE": "3"])
    let unix = "FDNAME=listener=unix%3A\(folder.path("s"))"
    #expect(manager.message() == "FDSTORE=1 FDNAME=listener=127.0.0.1%3A\(policy.port)")
    #expect(manager.message() == "FDSTORE=1 \(unix)")
    #expect(manager.message()?.hasPrefix("READY=1 ") == true)
    // Two sockets of the port and one of the path leave no room for the admin listener.
    let lines = try child.lines(
      until: "warning: the service manager cannot keep the 1 sockets of 127.0.0.1:\(policy.adminPort) for a restart")
    #expect(lines.last?.contains("set `FileDescriptorStoreMax=`") == true)
    for (text, message) in [(policy.text, "FDSTOREREMOVE=1 \(unix)"), (two, "FDSTORE=1 \(unix)")] {
      try folder.write("policy.yaml", text)
      child.signal(SIGHUP)
      #expect(manager.message()?.hasPrefix("RELOADING=1 ") == true)
      if text == policy.text {
        #expect(manager.message() == message)
        // The admin listener takes the place.
        #expect(manager.message() == "FDSTORE=1 FDNAME=listener=127.0.0.1%3A\(policy.adminPort)")
      }
      #expect(manager.message()?.hasPrefix("READY=1 ") == true)
    }
    child.signal(SIGTERM)
    #expect(manager.message()?.hasPrefix("STOPPING=1 ") == true)
    #expect(child.wait() == 0)
    // The listener that is not in the store is closed as without a store.
    #expect(!FileManager.default.fileExists(atPath: folder.path("s")))
  }
}
