import FoundationEssentials
import Reactor
import Time

/// Watches the directories of the policy file, of the files that it includes, and of the secrets, keys and certificates
/// that it names. The directory of a file is watched,
/// and not the file: programs replace a file by renaming another, and Kubernetes replaces the symbolic link `..data`, to
/// which the link of each file leads.
final class PolicyWatch {
  /// The time without changes after which a change is complete.
  private static let quiet: Milliseconds = 200
  /// The time after which a change counts as complete even if others follow.
  private static let limit: Milliseconds = 2_000
  /// The time between two attempts to find a directory that was removed.
  private static let searchInterval: Milliseconds = 5_000

  private let poller: Poller
  private let watch: DirectoryWatch
  private var files: Set<String>
  private var directories: Set<String>
  /// The stamps of the files with which the latest reload began.
  private var stamps: [String: FileStamp]

  /// Watches the directory of a policy. Throws the error of the system call that fails.
  init(_ poller: Poller, _ path: String) throws(IOError) {
    self.poller = poller
    watch = try DirectoryWatch(poller)
    files = [path]
    directories = [PolicyWatch.directory(of: path)]
    stamps = [:]
    try watch.add(PolicyWatch.directory(of: path))
    stamps = readStamps()
  }

  /// Watches these files too.
  func include(_ paths: [String]) {
    let old = readStamps()
    let isChanged = old != stamps
    files.formUnion(paths)
    directories.formUnion(paths.map(PolicyWatch.directory))
    _ = watchDirectories()
    // A change that no reload has seen remains one.
    if !isChanged { stamps = readStamps() }
  }

  /// Calls `reload` after each change.
  func start(_ reload: @escaping () -> Void) {
    poller.start(Watching(self, reload))
  }

  private final class Watching: Activity {
    private let watch: PolicyWatch
    private let reload: () -> Void

    init(_ watch: PolicyWatch, _ reload: @escaping () -> Void) {
      self.watch = watch
      self.reload = reload
    }

    func run() async { await watch.run(reload) }
  }

  private func run(_ reload: () -> Void) async {
    var isComplete = true
    while true {
      let current = readStamps()
      if current != stamps {
        stamps = current
        reload()
      }
      let deadline = isComplete ? Deadline.never : poller.deadline(after: PolicyWatch.searchInterval)
      if await watch.waitForChange(until: deadline) {
        await watch.waitUntilQuiet(for: PolicyWatch.quiet, atMost: PolicyWatch.limit)
      }
      isComplete = watchDirectories()
    }
  }

  /// Watches all directories. Returns false if one does not exist.
  private func watchDirectories() -> Bool {
    var isComplete = true
    for directory in directories {
      do throws(IOError) {
        try watch.add(directory)
      } catch {
        isComplete = false
      }
    }
    return isComplete
  }

  /// Returns the stamps of the files, and of the YAML files next to them, because `include` may name a pattern.
  private func readStamps() -> [String: FileStamp] {
    var paths = files
    for directory in directories {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      paths.formUnion(
        names.filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".yml") }.map { directory + "/" + $0 })
    }
    var found: [String: FileStamp] = [:]
    for path in paths {
      if let stamp = FileStamp(path), !stamp.isDirectory { found[path] = stamp }
    }
    return found
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
