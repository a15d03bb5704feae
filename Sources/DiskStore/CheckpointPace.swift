/// Decides how many pages the write-ahead log may have before the store copies them into the database file (a
/// checkpoint).
///
/// A commit that is requested during a copy waits for the whole copy, which ends with one sync of the file. The sync
/// takes about as long as a commit. The time for the rest of the copy grows with the number of pages. `recordCopy`
/// compares this time with the part of `maximumWait` that the sync leaves, and changes the number of pages of the next
/// copy (`copyThreshold`).
struct CheckpointPace {
  /// The time that a commit may wait for a copy. All times in this file are in nanoseconds.
  static let maximumWait: UInt64 = 20_000_000
  /// The part of `maximumWait` that is kept for unexpected delays.
  private static let reserve: UInt64 = 4_000_000
  /// The least time that `recordCopy` allows for the pages of a copy. With the other values of this file, it has no
  /// effect: `recordCopy` allows at least 6 ms.
  private static let minimumTimeForPages: UInt64 = 2_000_000
  /// The minimum and maximum of `copyThreshold`. A page has 1 KiB, so they are logs of 250 KiB and of about 4 MiB.
  private static let minimumPages = 250
  private static let maximumPages = 4_000

  /// The number of pages in the log at which a copy is due.
  private(set) var copyThreshold = 1_000
  /// The smoothed duration of a commit in nanoseconds.
  private(set) var commitTime: UInt64 = 0

  /// Records the duration of a commit.
  mutating func recordCommit(nanoseconds: UInt64) {
    commitTime = commitTime == 0 ? nanoseconds : (commitTime * 7 + nanoseconds) / 8
  }

  /// Records the duration of a copy with its sync.
  mutating func recordCopy(nanoseconds: UInt64) {
    // A copy takes the time of its sync, which is about that of a commit, and the time for its pages.
    let timeForPages = nanoseconds > commitTime ? nanoseconds - commitTime : 0
    // At most half of `maximumWait` is subtracted for the sync: on a slow disk, smaller copies would only mean more
    // syncs.
    let allowedTimeForPages = max(
      CheckpointPace.minimumTimeForPages,
      CheckpointPace.maximumWait - CheckpointPace.reserve - min(commitTime, CheckpointPace.maximumWait / 2))
    if timeForPages > allowedTimeForPages {
      copyThreshold = max(CheckpointPace.minimumPages, copyThreshold / 2)
    } else if timeForPages < allowedTimeForPages / 2 {
      copyThreshold = min(CheckpointPace.maximumPages, copyThreshold + copyThreshold / 8)
    }
  }

  /// Records that a copy failed. The next copy is due when the log, which now has `frames` pages, has grown by
  /// `maximumPages`.
  mutating func recordFailure(frames: Int) {
    copyThreshold = frames + CheckpointPace.maximumPages
  }
}
