import Foundation
import Testing

@Suite("The map of modules")
struct ModuleArrowTests {
  /// The modules that each module imports according to docs/architecture.md, in the order of that page.
  private static func documented() throws -> [(module: String, imports: [String])] {
    let block = try #require(
      Repository.read("docs/architecture.md").components(separatedBy: "```text\n").dropFirst().first?
        .components(separatedBy: "```\n").first)
    var modules: [(module: String, imports: [String])] = []
    for line in block.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      if words.dropFirst().first == "->" {
        modules.append((words[0], Array(words.dropFirst(2))))
      } else if !modules.isEmpty {
        modules[modules.count - 1].imports += words
      }
    }
    return modules
  }

  /// The modules of this project that the sources of a module import.
  private static func imports(of module: String, among modules: Set<String>) throws -> Set<String> {
    let folder = Repository.root.appendingPathComponent("Sources").appendingPathComponent(module)
    var found: Set<String> = []
    for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
      let source = try String(decoding: Data(contentsOf: folder.appendingPathComponent(file)), as: UTF8.self)
      for line in source.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        guard let place = words.firstIndex(of: "import"), place < 2, place + 1 < words.count else { continue }
        if modules.contains(words[place + 1]) { found.insert(words[place + 1]) }
      }
    }
    return found
  }

  @Test("docs/architecture.md shows every import between modules, and a module imports only modules below it")
  func arrows() throws {
    let modules = try Set(
      FileManager.default.contentsOfDirectory(atPath: Repository.root.appendingPathComponent("Sources").path))
    let documented = try Self.documented()
    for module in modules {
      let entry = documented.first { $0.module == module }
      #expect(try Set(entry?.imports ?? []) == Self.imports(of: module, among: modules), "\(module)")
    }
    let order = documented.map(\.module)
    for (place, entry) in documented.enumerated() {
      for name in entry.imports { #expect(!order[...place].contains(name), "\(entry.module) imports \(name)") }
    }
  }
}
