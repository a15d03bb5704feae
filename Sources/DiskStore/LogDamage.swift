internal import SQLite

/// The reason why the write-ahead log of a store cannot have all commits of the last process.
///
/// A clean end copies the whole log into the file, and then sets a mark in the file. Each start removes the mark, durably,
/// before it makes another change. So a file without the mark needs its log, and a file with the mark needs none.
enum LogDamage: Hashable, Sendable {
  case missing
  case empty
  /// The header is not valid.
  case header
  /// A commit follows a frame that is not valid.
  case interrupted
  /// The log ends before the latest commit that the process has recorded next to the file (`PositionFile`).
  case short

  /// Returns the damage of the log of the file at `path`; `nil` if none can be found. Call it before SQLite opens the
  /// file, because SQLite takes the first invalid frame for the end of the log, and then overwrites it.
  static func find(_ path: String) throws(FileStoreError) -> LogDamage? {
    do throws(WriteAheadLog.Problem) {
      let log = try WriteAheadLog(reading: StoreFile.logPath(path))
      if log.isInterrupted { return .interrupted }
      let position = PositionFile.read(StoreFile.positionPath(path))
      return position.map(log.end.includes) ?? true ? nil : .short
    } catch {
      switch error {
      case .missing: return .missing
      case .empty: return .empty
      case .header: return .header
      case .unreadable(let problem): throw FileStoreError(path, problem)
      }
    }
  }

  /// The words after the name of the log.
  var description: String {
    switch self {
    case .missing: "is missing"
    case .empty: "is empty"
    case .header, .interrupted: "is damaged"
    case .short: "lacks the latest commits"
    }
  }
}
