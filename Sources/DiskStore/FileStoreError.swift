internal import SQLite

/// The reason why a file cannot be used as a store, with advice for the operator.
public struct FileStoreError: Error, Hashable, Sendable, CustomStringConvertible {
  enum Problem: Hashable, Sendable {
    case inUse
    case notRegular
    case empty
    /// The file is missing, but its write-ahead log exists.
    case logWithoutFile
    case notAStore
    case newer(version: Int64)
    case damaged(detail: String)
    /// The latest changes may be lost, because they were in the log.
    case damagedLog(LogDamage)
    case full
    case readOnly
    /// A reset finds no unused name for the old file.
    case tooManyOldFiles
    case system(message: String)
  }

  /// The path, as in the policy.
  public let path: String
  let problem: Problem

  init(_ path: String, _ problem: Problem) {
    self.path = path
    self.problem = problem
  }

  init(_ path: String, _ error: SQLiteError) {
    let problem: Problem =
      switch error.reason {
      case .busy: .inUse
      case .full: .full
      case .readOnly: .readOnly
      case .damaged: .damaged(detail: error.message)
      // The file has been opened and locked before, so the log next to it cannot be created.
      case .cannotOpen where !DatabaseFile.isFolderWritable(of: path): .readOnly
      case .cannotOpen, .inputOutput, .other: .system(message: error.description)
      }
    self.init(path, problem)
  }

  init(_ path: String, _ problem: DatabaseFile.Problem) {
    switch problem {
    case .missing: self.init(path, Problem.system(message: "no such file; check the path"))
    case .inUse: self.init(path, Problem.inUse)
    case .notRegular: self.init(path, Problem.notRegular)
    case .full: self.init(path, Problem.full)
    case .readOnly: self.init(path, Problem.readOnly)
    case .failed(let message): self.init(path, Problem.system(message: message))
    }
  }

  /// True if the content of the file is the problem, so that `proofgate store reset` is the solution.
  public var isDamage: Bool {
    switch problem {
    case .empty, .logWithoutFile, .notAStore, .damaged, .damagedLog: true
    case .inUse, .notRegular, .newer, .full, .readOnly, .tooManyOldFiles, .system: false
    }
  }

  /// A sentence without a period.
  public var description: String {
    let reset = "`proofgate store reset \(path)` creates a new one with a new epoch"
    return switch problem {
    case .inUse: "the store \(path) is used by another process; each gateway needs a file of its own"
    case .notRegular: "the store \(path) is not a regular file; name another file"
    case .empty: "the store \(path) is damaged: it is empty; restore it from a backup, or \(reset)"
    case .logWithoutFile:
      "the store \(path) is missing, but its log \(StoreFile.logPath(path)) exists; restore the file, or \(reset)"
    case .notAStore: "\(path) is not a store of Proofgate; name another file, or \(reset)"
    case .newer(let version):
      "the store \(path) has version \(version), which a newer Proofgate wrote; use that one, or name another file"
    case .damaged(let detail):
      "the store \(path) is damaged: \(detail); restore it from a backup, or \(reset)"
    case .damagedLog(let damage):
      "the store \(path) is damaged: its log \(StoreFile.logPath(path)) \(damage.description); the next start of the "
        + "gateway begins a new epoch"
    case .full: "the store \(path) cannot be written: the disk is full; free some space on it"
    case .readOnly:
      "the store \(path) cannot be written: the file, its directory or the file system is read-only or belongs to "
        + "another user; make it writable for the gateway, or name another file"
    case .tooManyOldFiles:
      "the store \(path) cannot be reset, because \(path).old and \(path).old2 to \(path).old\(StoreFile.maximumOldFiles) "
        + "exist; move one of them away"
    case .system(let message): "the store \(path) cannot be opened: \(message)"
    }
  }
}
