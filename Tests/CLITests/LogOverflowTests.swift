import Foundation
import GatewayTestSupport
import Testing

/// The decision log with a destination that accepts no lines: a FIFO without a reader.
@Suite("A log that is not read")
struct LogOverflowTests {
  /// A gateway whose log is a FIFO.
  private final class Served {
    let folder: Folder
    let child: Child
    let port: Int
    let fifo: String

    init(_ gateway: String) throws {
      folder = try Folder()
      var served = try ServedPolicy()
      served.gateway = gateway.replacing("FOLDER", with: folder.path(""))
      let policy = try folder.write("policy.yaml", served.text)
      fifo = folder.path("log")
      try Served.makeFIFO(fifo)
      child = try Child(["serve", policy, "--log", fifo])
      _ = try child.lines(until: " serves ")
      port = served.port
    }

    /// Sends refused authorization requests over one connection. Returns the ids of the answers by status.
    func send(_ count: Int) async throws -> [Int: [String]] {
      // The answers to HEAD have no bodies.
      let request = "HEAD /authorize?client_id=nobody-knows HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
      let pipeline = String(repeating: request + "\r\n", count: count - 1) + request + "Connection: close\r\n\r\n"
      let bytes = try await ClientLoop.sendRaw(Array(pipeline.utf8), toPort: port)
      let answers = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n").dropLast()
      try #require(answers.count == count)
      var ids: [Int: [String]] = [:]
      for answer in answers {
        let lines = answer.components(separatedBy: "\r\n")
        let status = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        let field = "X-Request-ID: "
        let id = try #require(lines.first { $0.hasPrefix(field) }?.dropFirst(field.count))
        ids[status, default: []].append(String(id))
      }
      return ids
    }

    /// Reads lines until the FIFO has delivered as many, or until the gateway has ended.
    func read(_ count: Int) throws -> [String] {
      let reader = try #require(FileHandle(forReadingAtPath: fifo))
      var text = Data()
      var lines = 0
      // The line after a write that failed begins with another line end.
      var last = UInt8(ascii: "\n")
      while lines < count {
        let more = reader.availableData
        if more.isEmpty { break }
        text += more
        for byte in more {
          if byte == UInt8(ascii: "\n"), last != byte { lines += 1 }
          last = byte
        }
      }
      return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static func makeFIFO(_ path: String) throws {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/mkfifo")
      process.arguments = [path]
      try process.run()
      process.waitUntilExit()
      try #require(process.terminationStatus == 0)
    }
  }

  private static func ids(_ lines: [String]) -> [String] {
    lines.compactMap { $0.firstMatch(of: /"request":"([^"]+)"/).map { String($0.1) } }
  }

  @Test(
    "With log_overflow: refuse, requests get 503 while the log has no reader, and each decision has its line afterwards"
  )
  func refuses() async throws {
    let served = try Served("  log_overflow: refuse")
    let ids = try await served.send(4_800)
    let decided = ids[400] ?? []
    let refused = ids[503] ?? []
    #expect(decided.count > 4_096 && refused.count > 100 && decided.count + refused.count == 4_800)
    #expect(Self.ids(try served.read(decided.count)) == decided)
    // The reader has caught up, so requests are decided again.
    let later = try await served.send(3)
    #expect(later[400]?.count == 3)
    served.child.signal(SIGKILL)
    _ = served.child.wait()
  }

  @Test("With log_spool, lines wait in the file while the log has no reader, and follow in order, also after a restart")
  func spools() async throws {
    let served = try Served("  log_overflow: refuse\n  log_spool: FOLDER/spool\n  log_spool_size: 4MiB")
    let ids = try await served.send(6_000)
    #expect(ids[400]?.count == 6_000, "\(ids.mapValues(\.count))")
    let spool = served.folder.path("spool")
    let facts = try FileManager.default.attributesOfItem(atPath: spool)
    #expect((facts[.size] as? Int ?? 0) > 500_000 && facts[.posixPermissions] as? Int == 0o600)
    #expect(Self.ids(try served.read(6_000)) == ids[400])
    _ = try await served.send(1)
    served.child.signal(SIGTERM)
    #expect(served.child.wait() == 0)
  }

  @Test("The spool has a limit, beyond which requests are refused")
  func limit() async throws {
    let served = try Served("  log_overflow: refuse\n  log_spool: FOLDER/spool\n  log_spool_size: 1MiB")
    let ids = try await served.send(9_000)
    let decided = ids[400] ?? []
    #expect(decided.count < 9_000 && !(ids[503] ?? []).isEmpty, "\(ids.mapValues(\.count))")
    let size = try FileManager.default.attributesOfItem(atPath: served.folder.path("spool"))[.size] as? Int
    #expect((size ?? 0) <= 1_048_576)
    #expect(Self.ids(try served.read(decided.count)) == decided)
    served.child.signal(SIGKILL)
    _ = served.child.wait()
  }

  @Test("A second process cannot use the same spool")
  func locked() throws {
    let served = try Served("  log_spool: FOLDER/spool")
    var other = try ServedPolicy()
    other.gateway = "  log_spool: \(served.folder.path("spool"))"
    let policy = try served.folder.write("other.yaml", other.text)
    let outcome = try Program.run("serve", policy, "--log", served.folder.path("other.log"))
    #expect(outcome.code == 2 && outcome.errors.contains("of `log_spool` cannot be used"))
    served.child.signal(SIGTERM)
    #expect(served.child.wait() == 0)
  }
}
