import Testing

@testable import Enforcement

@Suite("Rule table")
struct RuleTableTests {
  private static func identities<Context>(_ rules: [Rule<Context>]) -> Set<String> {
    Set(rules.map(\.identity))
  }

  /// The rules of each list, by identity. A list that is added to `RuleTable` belongs here too.
  private static let lists: [Set<String>] = [
    identities(RuleTable.authorization), identities(RuleTable.pushed), identities(RuleTable.reference),
    identities(RuleTable.token), identities(RuleTable.redemption), identities(RuleTable.refresh),
    identities(RuleTable.transaction), identities(RuleTable.reentry), identities(RuleTable.interaction),
  ]

  /// `make mutation` reads the printed lines.
  @Test("A rule has one identity, and no list contains a rule twice")
  func identities() {
    let counts = [
      RuleTable.authorization.count, RuleTable.pushed.count, RuleTable.reference.count, RuleTable.token.count,
      RuleTable.redemption.count, RuleTable.refresh.count, RuleTable.transaction.count, RuleTable.reentry.count,
      RuleTable.interaction.count,
    ]
    #expect(Self.lists.map(\.count) == counts)
    for identity in Self.lists.reduce(into: Set<String>(), { $0.formUnion($1) }).sorted() { print("rule: \(identity)") }
  }
}
