import Testing
import YAML

@Suite("YAML")
struct YAMLTests {
  private func parse(_ text: String, limits: YAMLLimits = YAMLLimits()) throws -> YAMLDocument {
    try YAMLDocument.parse(Array(text.utf8), file: "f.yaml", limits: limits)
  }

  private func problem(_ text: String, limits: YAMLLimits = YAMLLimits()) -> String? {
    do {
      _ = try YAMLDocument.parse(Array(text.utf8), file: "f.yaml", limits: limits)
      return nil
    } catch {
      return error.description
    }
  }

  @Test("Nodes keep their order, text, style and place")
  func tree() throws {
    let root = try parse("b: [1, 'two', {x: y}]\na: |\n  three\n").root
    #expect(root.kind == .mapping)
    #expect(root.count == 2)
    #expect(root.entries.map(\.key.text) == ["b", "a"])
    let list = try #require(root.entries.first { $0.key.text == "b" }?.value)
    #expect(list.kind == .sequence)
    #expect(list.count == 3)
    #expect(list.items.map(\.text) == ["1", "two", nil])
    #expect(list.items.map(\.style) == [.plain, .quoted, .plain])
    #expect(list.items.map(\.mark) == [(1, 5), (1, 8), (1, 15)].map { YAMLMark(line: $0, column: $1) })
    let block = try #require(root.entries.first { $0.key.text == "a" }?.value)
    #expect(block.text == "three\n")
    #expect(block.style == .block)
  }

  @Test("Lines after a byte order mark keep their places")
  func linesAfterByteOrderMark() throws {
    let root = try parse("\u{FEFF}# comment\na: 1\nb: 2\n").root
    #expect(root.entries.map(\.key.text) == ["a", "b"])
    #expect(root.entries.map(\.key.mark) == [YAMLMark(line: 2, column: 1), YAMLMark(line: 3, column: 1)])
  }

  @Test(
    "The most frequent mistakes are reported at their place, in plain words",
    arguments: [
      ("a: 1\nb: 'two\nc: 3\n", "f.yaml:2:4: not valid YAML: this quotation mark is never closed"),
      (
        "a:\n  - x\n  b: 1\n",
        "f.yaml:3:3: not valid YAML: this line does not continue the list that begins in line 2; check its indentation"
      ),
      (
        "a:\n  b: 1\n c: 2\n",
        "f.yaml:3:2: not valid YAML: this line does not continue the mapping that begins in line 1; check its indentation"
      ),
    ])
  func mistakes(text: String, expected: String) {
    #expect(problem(text) == expected)
  }

  @Test("Entries of a long list can be released after reading, without a change to the values around it")
  func forgetting() throws {
    let items = (0..<5_000).map { "- k\($0): v\($0)\n" }.joined()
    let root = try parse("a: first\nlist:\n" + items + "z: last\n").root
    let list = try #require(root.entries.first { $0.key.text == "list" }?.value)
    var number = 0
    for item in list.items {
      let entry = try #require(item.entries.first { _ in true })
      #expect(entry.key.text == "k\(number)" && entry.value.text == "v\(number)")
      #expect(entry.value.mark.line == number + 3)
      list.document.freeItems(of: list, through: item)
      number += 1
    }
    #expect(number == 5_000)
    #expect(root.entries.map(\.key.text) == ["a", "list", "z"])
    #expect(root.entries.map(\.value.text) == ["first", nil, "last"])
  }

  @Test("Columns count characters, not bytes")
  func columns() throws {
    let root = try parse("{ \u{fc}\u{1F600}: x }").root
    #expect(root.entries.map(\.value.mark) == [YAMLMark(line: 1, column: 7)])
  }

  @Test("A byte order mark is not content")
  func byteOrderMark() throws {
    #expect(try parse("\u{FEFF}a: b").root.entries.map(\.key.text) == ["a"])
  }

  @Test("Bytes that are not UTF-8 are refused with their place")
  func notUTF8() {
    let bytes = Array("a: b\nc: ".utf8) + [0xff]
    #expect(
      throws: YAMLError(
        file: "f", mark: YAMLMark(line: 2, column: 4),
        problem: .syntax("invalid leading UTF-8 octet; save the file as UTF-8 text"))
    ) {
      try YAMLDocument.parse(bytes, file: "f")
    }
  }

  @Test("A repeated key is found in large mappings too, and reported at its second place")
  func repeatedKeys() {
    let keys = (0..<100).map { "k\($0): v\n" }.joined()
    #expect(problem(keys) == nil)
    #expect(problem(keys + "k7: v\n") == "f.yaml:101:1: key `k7` occurs twice, first in line 8; keep one")
  }

  @Test("Depth, nodes and bytes are limited")
  func limits() {
    #expect(problem(String(repeating: "[", count: 40)) == "f.yaml:1:33: nested deeper than 32 levels")
    #expect(problem("[a, b, c]", limits: YAMLLimits(nodes: 3)) == "f.yaml:1:8: more than 3 values; split the file")
    #expect(problem("abcd", limits: YAMLLimits(bytes: 3)) == "f.yaml:1:1: more than 3 bytes; split the file")
  }

  @Test("A scalar has no items and no entries")
  func scalar() throws {
    let root = try parse("text").root
    #expect(root.items.map(\.text) == [])
    #expect(Array(root.entries).isEmpty)
  }
}
