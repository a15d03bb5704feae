import YAML

/// A place in a file that stays valid after the nodes of the document are freed, for findings that come later.
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
