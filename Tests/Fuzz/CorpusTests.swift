import FoundationEssentials
import Testing

/// Every committed input, among them all that fuzzing ever found, satisfies its target's properties.
struct CorpusTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Corpus")

  @Test("Every input of the corpus satisfies the properties of its parser", arguments: FuzzTarget.allCases)
  func corpus(_ target: FuzzTarget) throws {
    let folder = CorpusTests.folder.appendingPathComponent(target.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(!names.isEmpty)
    // No file of the corpus is empty: Foundation leaks a page for each that it reads.
    #expect(throws: Never.self) { try target.check([]) }
    for name in names {
      let input = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
      do {
        try target.check(input)
      } catch {
        Issue.record("\(name): \(error)")
      }
    }
  }

  @Test("Every folder of the corpus has a target")
  func folders() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: CorpusTests.folder.path)
    #expect(Set(names) == Set(FuzzTarget.allCases.map(\.rawValue)))
  }
}
