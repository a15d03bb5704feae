import Testing

@testable import DiskStore

@Suite("The pace of the copies of the write-ahead log")
struct CheckpointPaceTests {
  private static let millisecond: UInt64 = 1_000_000

  /// Simulates copies on a disk, and returns the duration of each in nanoseconds.
  private func copies(_ count: Int, sync: UInt64, page: UInt64, in pace: inout CheckpointPace) -> [UInt64] {
    (0..<count).map { _ in
      for _ in 0..<20 { pace.recordCommit(nanoseconds: sync + 200 * page) }
      let duration = sync + UInt64(pace.copyThreshold) * page
      pace.recordCopy(nanoseconds: duration)
      return duration
    }
  }

  @Test(
    "On disks with syncs of up to 10 ms, each copy after the first leaves at least 4 ms of the permitted wait",
    arguments: [1, 2_000_000, 10_000_000] as [UInt64], [1_000, 2_000, 5_000, 10_000] as [UInt64])
  func reserve(sync: UInt64, page: UInt64) {
    var pace = CheckpointPace()
    let durations = copies(200, sync: sync, page: page, in: &pace)
    #expect(durations.allSatisfy { $0 <= CheckpointPace.maximumWait - 4 * Self.millisecond })
  }

  @Test("On a fast disk copies become long, and on a slower one short again, but never shorter than 250 pages")
  func adapts() throws {
    var pace = CheckpointPace()
    _ = copies(100, sync: Self.millisecond, page: 500, in: &pace)
    #expect(pace.copyThreshold > 3_000)
    _ = copies(100, sync: 10 * Self.millisecond, page: 20_000, in: &pace)
    #expect(pace.copyThreshold == 250)
  }

  @Test("After a failed copy, the log grows before the next attempt")
  func failed() {
    var pace = CheckpointPace()
    let before = pace.copyThreshold
    pace.recordFailure(frames: before)
    #expect(pace.copyThreshold >= before + 1_000)
  }
}
