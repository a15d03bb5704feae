import DiskStore
import Foundation
import RedisTestSupport
import Stores
import Testing
import Time

/// The figures of docs/operations.md, compared with those of the code.
@Suite("The capacity of a store in the manual")
struct CapacityTableTests {
  private struct Row {
    let size: Int
    let families: Int
    let redemptions: Int
    let signIns: Int
  }

  /// Returns a number with separators, such as `1,306,000`.
  private static func number(_ text: some StringProtocol) throws -> Int {
    try #require(Int(String(text).replacing(",", with: "")))
  }

  private static func size(_ text: some StringProtocol) throws -> Int {
    let (digits, unit) = (text.prefix { $0.isNumber }, text.drop { $0.isNumber })
    return try number(digits) << (try #require(["MiB": 20, "GiB": 30][String(unit)]))
  }

  /// Returns the entries of a kind that fit into a store in memory.
  private static func capacity(_ kind: StoreKind, in store: MemoryStore) throws -> Int {
    try #require(store.usage.first { $0.kind == kind }?.capacity)
  }

  private static func rows() throws -> [Row] {
    try Manual.text("docs/operations.md").matches(of: /\n\| `(\d+[MG]iB)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|/).map {
      Row(
        size: try size($0.1), families: try number($0.2), redemptions: try number($0.3), signIns: try number($0.4))
    }
  }

  @Test("Each row has the families, the redemptions and the sign-ins that fit into a store of its size")
  func rows() throws {
    let rows = try Self.rows()
    #expect(rows.count >= 4)
    for row in rows {
      let store = MemoryStore(size: row.size)
      #expect(try abs(Self.capacity(.family, in: store) - row.families) <= 1_000)
      // The entry of a code outlives it by the tolerance for differences between clocks.
      let tolerance = Int(store.clockTolerance.count)
      #expect(try abs(Self.capacity(.claim, in: store) / (60 + tolerance) - row.redemptions) <= 1)
      #expect(try abs(Self.capacity(.code, in: store) / (600 + tolerance) - row.signIns) <= 1)
    }
  }

  @Test("The memory of 1,000,000 families is that of their entries")
  func million() throws {
    let match = try #require(
      try Manual.text("docs/operations.md").firstMatch(of: /1,000,000 families take (\d+) MiB/), "no such sentence")
    let store = MemoryStore(size: 256 << 20)
    let usage = try #require(store.usage.first { $0.kind == .family })
    let bytes = usage.share / (try #require(usage.capacity)) * 1_000_000
    #expect(try abs(Self.number(match.1) - bytes >> 20) <= 1)
  }

  @Test("The families and redemptions that fit into a file are those of the code")
  func file() async throws {
    let text = try Manual.text("docs/operations.md").replacing("\n", with: " ")
    let usual = try #require(text.firstMatch(of: /256 MiB is enough for ([\d,]+) families and ([\d,]+) redemptions/))
    let large = try #require(text.firstMatch(of: /`size: 2GiB` is enough for ([\d,]+) and ([\d,]+)/))
    let figures = [
      (256 << 20, try Self.number(usual.1), try Self.number(usual.2)),
      (2 << 30, try Self.number(large.1), try Self.number(large.2)),
    ]
    for (size, count, redemptions) in figures {
      #expect(abs(FileStore.capacity(size: size) - count) <= 1_000)
      try await StoreFolder.with { folder in
        let store = try FileStore(path: folder.path("state.db"), size: size)
        let claims = try #require(store.usage.first { $0.kind == .claim }?.capacity)
        #expect(abs(claims / (60 + Int(store.clockTolerance.count)) - redemptions) <= 1)
        store.close()
        let isClosed = try await StoreOnWorkers.poll { store.isClosed }
        try #require(isClosed)
      }
    }
  }
}
