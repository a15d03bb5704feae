internal import Time

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
  /// The part of `maximumWait` that is kept for unexpected delays: a sync that takes longer than a commit, and a thread
  /// that has to wait for a processor.
  private static let reserve: UInt64 = 8_000_000
  /// The maximum time that `recordCopy` allows for the pages of a copy. On a disk with a short sync, longer copies would
  /// save little time, and an unexpected delay of the processor is a part of their duration.
  private static let maximumTimeForPages: UInt64 = 6_000_000
  /// The minimum and maximum of `copyThreshold`. A page has 1 KiB, so they are logs of 250 KiB and of about 4 MiB.
  private static let minimumPages = 250
  private static let maximumPages = 4_000

  /// The number of pages in the log at which a copy is due. The first copy is short, because the time for its pages is
  /// not known yet.
  private(set) var copyThreshold = 500
  /// The smoothed duration of a commit in nanoseconds.
  private(set) var commitTime: UInt64 = 0

  /// Records the duration of a commit.
  mutating func recordCommit(nanoseconds: UInt64) {
    commitTime = commitTime == 0 ? nanoseconds : (commitTime * 7 + nanoseconds) / 8
  }

  /// Records the duration of a copy with its sync.
  mutating func recordCopy(nanoseconds: UInt64) {
    // A copy takes the time of its sync, which is about that of a commit, and the time for its pages.
    let timeForPages = nanoseconds.saturatingDifference(commitTime)
    // At most half of `maximumWait` is subtracted for the sync: on a slow disk, smaller copies would only mean more
    // syncs.
    let allowedTimeForPages = min(
      CheckpointPace.maximumTimeForPages,
      CheckpointPace.maximumWait.saturatingDifference(
        CheckpointPace.reserve + min(commitTime, CheckpointPace.maximumWait / 2)))
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
