internal import FoundationEssentials

/// The facts about the process that the kernel reports in `/proc`. A fact is `nil` if it cannot be read. The facts are
/// read when metrics are collected, on the thread that serves the metrics.
public struct ProcessFacts: Equatable, Sendable {
  /// The resident memory in bytes.
  public var residentBytes: UInt64?
  /// The number of open file descriptors.
  public var openFiles: Int?
  /// The number of file descriptors that the process may open (`RLIMIT_NOFILE`, soft limit).
  public var maximumFiles: UInt64?

  /// Creates the facts from known numbers, e.g. for tests.
  public init(residentBytes: UInt64? = nil, openFiles: Int? = nil, maximumFiles: UInt64? = nil) {
    self.residentBytes = residentBytes
    self.openFiles = openFiles
    self.maximumFiles = maximumFiles
  }

  /// Reads the facts from `/proc/self`.
  public static func current() -> ProcessFacts {
    let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    return ProcessFacts(
      residentBytes: readNumber("VmRSS:", of: "/proc/self/status", at: 1).map { $0 * 1024 },
      // One of the listed descriptors is that of the directory itself, which is open only while it is listed.
      openFiles: files.map { $0 - 1 },
      maximumFiles: readNumber("Max open files", of: "/proc/self/limits", at: 3))
  }

  /// Reads the file at `path` and finds the line that begins with `name`. Returns the number at word `position` (from
  /// 0) of this line.
  private static func readNumber(_ name: String, of path: String, at position: Int) -> UInt64? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
    let words = line.split { $0 == " " || $0 == "\t" }
    return words.indices.contains(position) ? UInt64(words[position]) : nil
  }
}
