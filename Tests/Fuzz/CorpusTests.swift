import FoundationEssentials
import Testing

/// Every committed input satisfies the properties of its target, including every input that fuzzing has found.
struct CorpusTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
    "Corpus")

  @Test("Every input of the corpus satisfies the properties of its parser", arguments: FuzzTarget.allCases)
  func corpus(_ target: FuzzTarget) throws {
    let folder = CorpusTests.folder.appendingPathComponent(target.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(!names.isEmpty)
    // The corpus has no empty file: Foundation leaks a page for each empty file that it reads.
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
