import Foundation
import Testing

/// Files that a newcomer might name by mistake, for every command that reads a file.
@Suite("Files with the wrong content")
struct WrongFileTests {
  /// A wrong file, and the exit code that it leads to.
  enum Wrong: String, CaseIterable {
    case missing, directory, empty, binary

    var code: Int32 {
      switch self {
      case .missing, .directory: 2
      case .empty, .binary: 1
      }
    }
  }

  /// The commands; `FILE` is the wrong file, `POLICY` and `LOG` are correct ones.
  private static let commands = [
    ["serve", "FILE"], ["explain", "FILE", "/authorize?client_id=x"], ["explain", "FILE", "/x", "--json"],
    ["explain", "POLICY", "--file", "FILE"], ["explain", "POLICY", "--id", "x", "--log", "FILE"],
    ["explain", "POLICY", "--id", "x", "--log", "FILE", "--json"], ["test", "FILE"], ["test", "FILE", "--json"],
    ["diff", "FILE", "POLICY"], ["diff", "POLICY", "FILE", "--json"], ["diff", "POLICY", "POLICY", "--log", "FILE"],
    ["diff", "POLICY", "POLICY", "--cases", "FILE"], ["learn", "FILE"], ["readiness", "FILE"],
    ["readiness", "FILE", "--json"], ["readiness", "LOG", "--policy", "FILE"], ["keys", "list", "--file", "FILE"],
    ["keys", "rotate", "--file", "FILE"], ["keys", "retire", "00000000", "--file", "FILE"], ["store", "check", "FILE"],
  ]

  @Test(
    "The error names the file and says what to do, on standard error, with the exit code for the reason",
    arguments: commands, Wrong.allCases)
  func wrongFile(_ command: [String], _ wrong: Wrong) throws {
    let folder = try Folder()
    let policy = try folder.write("policy.yaml", try ServedPolicy().text)
    let log = try folder.write(
      "log", #"{"event":"decision","time":"2026-11-24T10:00:00.000Z","endpoint":"token","client":"a"}"# + "\n")
    let path = folder.path("wrong")
    switch wrong {
    case .missing: break
    case .directory: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    case .empty: try Data().write(to: URL(fileURLWithPath: path))
    case .binary:
      try Data((0..<4_096).map { UInt8(truncatingIfNeeded: 255 - $0) }).write(to: URL(fileURLWithPath: path))
    }
    let names = ["FILE": path, "POLICY": policy, "LOG": log]
    let outcome = try Program.run(command.map { names[$0] ?? $0 })
    #expect(outcome.code == wrong.code, "\(outcome.errors)")
    #expect(outcome.errors.contains(path), "\(outcome.errors)")
    #expect(outcome.errors.contains("; "), "\(outcome.errors)")
    #expect(outcome.output.isEmpty, "\(outcome.output)")
    for line in outcome.errors.split(separator: "\n") {
      #expect(line.contains("error: ") || line.hasPrefix("proofgate: warning: "), "\(line)")
    }
    for word in ["Optional(", "Error Domain", "NSError", "Fatal", "Swift."] { #expect(!outcome.errors.contains(word)) }
  }

  @Test("A reset of a store that does not exist warns of the path")
  func resetOfMissingStore() throws {
    let folder = try Folder()
    let path = folder.path("stat.db")
    let reset = try Program.run("store", "reset", path)
    #expect(reset.code == 0)
    #expect(reset.errors.contains("proofgate: warning: there was no file \(path) before"))
    #expect(try !Program.run("store", "reset", path).errors.contains("warning"))
  }
}
