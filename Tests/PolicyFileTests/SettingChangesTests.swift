import Policy
import Testing

@testable import PolicyFile

@Suite("Settings that differ between two policies")
struct SettingChangesTests {
  private static func changes(_ edits: [(String, String)]) throws -> [String] {
    let text = PolicyValuesTests.complete
    var edited = text
    for (old, new) in edits {
      let place = try #require(edited.firstRange(of: old), "\(old)")
      edited.replaceSubrange(place, with: new)
    }
    let before = try #require(try PolicyValuesTests.load(text).policy)
    let after = try #require(try PolicyValuesTests.load(edited).policy)
    return SettingChanges(from: before, to: after, maximumClients: 10).lines
  }

  @Test("Equal policies have no changes")
  func equal() throws {
    #expect(try Self.changes([]) == [])
  }

  @Test("Each changed setting is one line with its path, the old and the new value as a policy has them")
  func changed() throws {
    let lines = try Self.changes([
      ("device_code_lifetime: 15m", "device_code_lifetime: 20m"),
      ("raw_refresh_until: 2027-03-31", "raw_refresh_until: never"),
      ("name: Example Mail", "name: Other Mail"),
    ])
    for line in [
      "enforcement.device_code_lifetime: 15m -> 20m",
      "enforcement.raw_refresh_until: 2027-03-31 -> never",
      "clients[com.example.mail].name: Example Mail -> Other Mail",
      "clients[web].device_code_lifetime: 15m -> 20m",
    ] {
      #expect(lines.contains(line), "\(lines)")
    }
  }
}
