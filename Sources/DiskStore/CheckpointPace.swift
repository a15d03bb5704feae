/// Decides how long the write-ahead log may become before its pages are copied into the file.
///
/// A commit that is requested during a copy waits for the copy and for one sync of the file. The time of a small sync
/// is known from commits. The rest of the time grows with the number of pages, so it decides how many pages the next
/// copy may have.
struct CheckpointPace {
  /// The nanoseconds that a commit may wait for a copy.
  static let limit: UInt64 = 20_000_000
  /// The part of `limit` that is kept for unexpected delays.
  private static let reserve: UInt64 = 4_000_000
  /// The nanoseconds that the pages may always take. With a slow disk, smaller copies would only mean more syncs.
  private static let minimumForPages: UInt64 = 2_000_000
  /// The minimum and maximum in pages: a log of 250 KiB and of 4 MiB.
  private static let smallest = 250
  private static let largest = 4_000

  /// The number of pages in the log at which a copy is due.
  private(set) var pages = 1_000
  /// The smoothed duration of a commit in nanoseconds.
  private(set) var sync: UInt64 = 0

  /// Records the duration of a commit.
  mutating func committed(nanoseconds: UInt64) {
    sync = sync == 0 ? nanoseconds : (sync * 7 + nanoseconds) / 8
  }

  /// Records the duration of a copy with its sync.
  mutating func copied(nanoseconds: UInt64) {
    let forPages = nanoseconds > sync ? nanoseconds - sync : 0
    let aim = max(
      CheckpointPace.minimumForPages,
      CheckpointPace.limit - CheckpointPace.reserve - min(sync, CheckpointPace.limit / 2))
    if forPages > aim {
      pages = max(CheckpointPace.smallest, pages / 2)
    } else if forPages < aim / 2 {
      pages = min(CheckpointPace.largest, pages + pages / 8)
    }
  }

  /// Records that a copy failed. The next one is due when the log has grown by `largest` pages.
  mutating func failed(at frames: Int) {
    pages = frames + CheckpointPace.largest
  }
}
