import FoundationEssentials
import Testing

@testable import Enforcement

@Suite("Rule table")
struct RuleTableTests {
  private struct Column {
    let heading: String
    let names: [String]
    let identities: [String]

    init<Context>(_ heading: String, _ rules: [Rule<Context>]) {
      self.heading = heading
      names = rules.map(\.name)
      identities = rules.map(\.identity)
    }
  }

  /// A list that is added to `RuleTable` must be added here too.
  private static let columns = [
    Column("aut", RuleTable.authorization), Column("pus", RuleTable.pushed), Column("ref", RuleTable.reference),
    Column("tok", RuleTable.token), Column("dev", RuleTable.device),
    Column("pol", RuleTable.devicePoll), Column("red", RuleTable.redemption), Column("rfr", RuleTable.refresh),
    Column("tra", RuleTable.transaction), Column("ree", RuleTable.reentry), Column("int", RuleTable.interaction),
    Column("isp", RuleTable.introspection),
  ]

  /// `make mutation` reads the printed lines.
  @Test("Every rule has one identity, and no list contains a rule twice")
  func identities() {
    for column in Self.columns { #expect(Set(column.identities).count == column.identities.count, "\(column.heading)") }
    for identity in Set(Self.columns.flatMap(\.identities)).sorted() { print("rule: \(identity)") }
  }

  @Test("The matrix in the comment of RuleTable is equal to the table")
  func matrix() throws {
    let rows = Self.columns.flatMap(\.names).reduce(into: [String]()) { rows, name in
      if !rows.contains(name) { rows.append(name) }
    }
    let width = rows.map(\.count).max() ?? 0
    var expected = [String(repeating: " ", count: width) + Self.columns.map { " \($0.heading)" }.joined()]
    for row in rows {
      let places = Self.columns.map { column in
        let place = column.names.firstIndex(of: row).map { String($0 + 1) } ?? ""
        return String(repeating: " ", count: 4 - place.count) + place
      }
      let line = row + String(repeating: " ", count: width - row.count) + places.joined()
      expected.append(String(line.reversed().drop { $0 == " " }.reversed()))
    }
    let matrix = expected.map { "/// \($0)\n" }.joined()
    let source = try String(decoding: Data(contentsOf: Self.source), as: UTF8.self)
    let fences = source.split(separator: "/// ```\n", omittingEmptySubsequences: false)
    try #require(fences.count == 3)
    guard ProcessInfo.processInfo.environment["PROOFGATE_WRITE_REFERENCE"] == nil else {
      try Data("\(fences[0])/// ```\n\(matrix)/// ```\n\(fences[2])".utf8).write(to: Self.source)
      return
    }
    #expect(fences[1] == matrix, "`make reference` writes the matrix")
  }

  private static let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Sources/Enforcement/RuleTable.swift")
}
