import YAML

/// Where something stands, for a finding that is made when the document has been given back.
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
