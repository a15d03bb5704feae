import YAML

/// A position in a file. It stays valid after the nodes of the document have been freed, for findings that are reported
/// later.
struct SourceLocation {
  private let document: YAMLDocument
  private let lineNumber: UInt32
  private let columnNumber: UInt32

  init(_ node: YAMLNode) {
    let mark = node.mark
    document = node.document
    lineNumber = UInt32(clamping: mark.line)
    columnNumber = UInt32(clamping: mark.column)
  }

  var file: String { document.file }
  var mark: YAMLMark { YAMLMark(line: Int(lineNumber), column: Int(columnNumber)) }
}
