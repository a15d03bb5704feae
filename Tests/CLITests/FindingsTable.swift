import Foundation

/// The table of findings in `docs/attacks.md`, and the titles of the tests in the sources.
///
/// A test of a row is written as `Target/Suite "title", "title"`, with the cases of a parameterised test in parentheses
/// after it. Several suites are separated by semicolons. A suite without a title means all of its tests. A `make`
/// target may replace a suite.
struct FindingsTable {
  struct Row {
    let finding: String
    let holds: String
    let proofs: [Proof]
  }

  /// The test or gate that shows that a row is true.
  struct Proof: Equatable {
    /// `Target/Suite`; nil for a `make` target.
    let suite: String?
    var titles: [String] = []
    var cases: [String] = []
    var target: String?
  }

  let rows: [Row]

  init(_ document: String) throws {
    let lines = document.components(separatedBy: "\n")
    guard let head = lines.firstIndex(of: "| finding | what holds | shown by |") else {
      throw Malformed(text: "the document has no table of findings")
    }
    rows = try lines[(head + 2)...].prefix { $0.hasPrefix("| ") }.map { line in
      let cells = line.components(separatedBy: " | ")
      guard cells.count == 3, cells[2].hasSuffix(" |") else { throw Malformed(text: line) }
      return Row(
        finding: String(cells[0].dropFirst(2)), holds: cells[1],
        proofs: try FindingsTable.proofs(String(cells[2].dropLast(2))))
    }
  }

  struct Malformed: Error {
    let text: String
  }

  private static func proofs(_ cell: String) throws -> [Proof] {
    var rest = Substring(cell)
    var proofs: [Proof] = []
    while !rest.isEmpty {
      if rest.hasPrefix("`make ") {
        let name = rest.dropFirst(6).prefix { $0 != "`" }
        rest = rest.dropFirst(6 + name.count + 1)
        proofs.append(Proof(suite: nil, target: String(name)))
      } else {
        let suite = rest.prefix { $0.isLetter || $0.isNumber || $0 == "/" }
        rest = rest.dropFirst(suite.count)
        guard suite.contains("/") else { throw Malformed(text: cell) }
        var proof = Proof(suite: String(suite))
        proof.titles = list(&rest, opening: " \"", between: ", \"", closing: "\"")
        if rest.hasPrefix(" (") {
          rest = rest.dropFirst()
          proof.cases = list(&rest, opening: "(`", between: ", `", closing: "`")
          guard rest.popFirst() == ")" else { throw Malformed(text: cell) }
        }
        proofs.append(proof)
      }
      if rest.isEmpty { break }
      guard rest.hasPrefix("; ") else { throw Malformed(text: cell) }
      rest = rest.dropFirst(2)
    }
    guard !proofs.isEmpty else { throw Malformed(text: cell) }
    return proofs
  }

  /// Removes texts in quotation marks from the front of `rest` and returns them.
  private static func list(
    _ rest: inout Substring, opening: String, between: String, closing: String
  ) -> [String] {
    var texts: [String] = []
    var mark = opening
    while rest.hasPrefix(mark) {
      rest = rest.dropFirst(mark.count)
      guard let end = rest.range(of: closing) else { break }
      texts.append(String(rest[..<end.lowerBound]))
      rest = rest[end.upperBound...]
      mark = between
    }
    return texts
  }
}

/// The titles of the tests of each suite, and the suite's source.
struct TestTitles {
  private(set) var titles: [String: Set<String>] = [:]
  private var sources: [String: String] = [:]

  init(folder: URL) throws {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let target = file.path.dropFirst(folder.path.count + 1).prefix { $0 != "/" }
      try read(String(contentsOf: file, encoding: .utf8), of: String(target))
    }
  }

  private mutating func read(_ source: String, of target: String) {
    var suite = ""
    var isOpen = false
    for line in source.split(separator: "\n") {
      if let name = TestTitles.suite(line) {
        suite = "\(target)/\(name)"
        titles[suite, default: []].formUnion([])
        sources[suite, default: ""] += source
      }
      // The title is on the line of the attribute or on the next line.
      guard isOpen || line.contains("@Test(") else { continue }
      let rest = isOpen ? line : line[(line.range(of: "@Test(")?.upperBound ?? line.endIndex)...]
      guard let start = rest.firstIndex(of: "\"") else {
        isOpen = !isOpen
        continue
      }
      isOpen = false
      titles[suite, default: []].insert(TestTitles.literal(rest[start...].dropFirst()))
    }
  }

  /// The name of a suite that the line declares or extends.
  private static func suite(_ line: Substring) -> String? {
    let words = line.split { $0 == " " || $0 == "{" || $0 == ":" }
    guard let keyword = words.firstIndex(where: { $0 == "struct" || $0 == "extension" }), words.count > keyword + 1,
      words[..<keyword].allSatisfy({ ["private", "fileprivate"].contains($0) }),
      let name = words[keyword + 1].split(separator: ".").last
    else { return nil }
    return name.hasSuffix("Tests") || name.hasSuffix("Findings") ? String(name) : nil
  }

  private static func literal(_ text: Substring) -> String {
    var result = ""
    var isEscaped = false
    for character in text {
      if !isEscaped, character == "\"" { break }
      isEscaped = !isEscaped && character == "\\"
      if !isEscaped { result.append(character) }
    }
    return result
  }

  /// The part of the proof that does not exist; nil if all of it exists.
  func missing(_ proof: FindingsTable.Proof) -> String? {
    guard let suite = proof.suite else { return nil }
    guard let titles = titles[suite], !titles.isEmpty else { return suite }
    if let title = proof.titles.first(where: { !titles.contains($0) }) { return "\(suite) \"\(title)\"" }
    return proof.cases.first { sources[suite]?.contains("\"\($0)\"") != true }
  }
}
