import Policy
import YAML

/// The mapping with `include`: the value of `clients:`, or an item of its list.
struct IncludeDraft: SectionDraft {
  static let table = SettingTable<IncludeDraft>(
    "include", "Files that hold clients.",
    [
      .customReader(
        "include", .list(.text("file names"), allowsSingleValue: true),
        "File names, relative to this file; `*` matches any characters of the file name, not of a directory",
        adviceIfMissing: "a file name")
    ]
  ) { IncludeDraft() }

  static let section = Section<IncludeDraft>(table, ["include": { reader, field, _ in reader.include(field) }])
}

/// The mapping form of a file that `include:` names.
struct IncludedFile: SectionDraft {
  static let table = SettingTable<IncludedFile>(
    "included_file", "A file that `include` names: a list of clients, or this mapping.",
    [.customReader("clients", .list(.section("client")), "The clients", adviceIfMissing: "a list of clients")]
  ) { IncludedFile() }

  fileprivate static let section = Section<IncludedFile>(
    table, ["clients": { reader, field, _ in for item in reader.list(field) { reader.readIncludedClient(item.node) } }])
}

extension PolicyReader {
  /// Reads the files that `include` names. Each name may be a pattern such as `clients.d/*.yaml`. The files contain
  /// clients, and cannot include other files.
  func include(_ field: Field) {
    for item in list(field, allowsSingleValue: true) {
      guard let pattern = text(item) else { continue }
      for path in paths(matching: pattern, item) {
        guard !files.contains(path) else {
          error(.include, item.node, "\(quoted(path)) is included twice; name it once")
          continue
        }
        guard let document = document(path, namedBy: item.node) else { continue }
        readIncluded(document)
        document.freeAll()
      }
    }
  }

  private func readIncluded(_ document: YAMLDocument) {
    let root = document.root
    switch root.kind {
    case .sequence:
      readEach(of: root, readIncludedClient)
    case .mapping:
      var file = IncludedFile()
      read(root, IncludedFile.section, named: "included file", into: &file)
    case .scalar:
      error(.wrongType, root, "an included file must be a list of clients, or a mapping with `clients`")
    }
  }

  fileprivate func readIncludedClient(_ node: YAMLNode) {
    if let entry = node.entries.first(where: { $0.key.text == "include" }) {
      error(.include, entry.key, "an included file cannot include others; name them in the policy itself")
    } else {
      readClient(node)
    }
  }

  /// Returns the paths that match a pattern, sorted. `*` matches any characters of the file name; names that begin with
  /// a period never match. A pattern without `*` is the path of one file, and is returned even if this file does not
  /// exist.
  func paths(matching pattern: String, _ item: Field) -> [String] {
    let full = FileSystem.resolve(pattern, relativeTo: item.node.document.file)
    let directory = FileSystem.directory(of: full)
    guard !directory.contains("*") else {
      error(.include, item.node, "\(quoted(pattern)) has a `*` in a directory; it is for the file's name only")
      return []
    }
    let namePattern = full.dropFirst(directory.count)
    guard namePattern.contains("*") else { return [full] }
    let names: [String]
    do {
      names = try FileSystem.names(in: directory)
    } catch {
      self.error(.include, item.node, "directory \(quoted(directory)) \(error.text)")
      return []
    }
    let found = names.filter { !$0.hasPrefix(".") && Self.matches($0, pattern: namePattern) }
    if found.isEmpty { warn(.include, item.node, "\(quoted(pattern)) names no file; remove it or add one") }
    return found.map { directory + $0 }
  }

  /// Returns true if the parts of the pattern between its stars occur in `name` in the same order, with the first part
  /// at the beginning and the last part at the end.
  static func matches(_ name: String, pattern: Substring) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return name == pattern }
    guard name.hasPrefix(first) else { return false }
    var rest = name.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
