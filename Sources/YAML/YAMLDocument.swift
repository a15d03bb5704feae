/// One parsed file: all nodes in one array in the order of the file, all text in another.
///
/// The usual tree of boxes costs an allocation per node; a policy of 100,000 clients has millions of them.
public final class YAMLDocument: Sendable {
  /// A node in 16 bytes.
  struct Record: Sendable {
    /// Kind in bits 0 and 1, style in bits 2 and 3, whether there are control characters in bit 4, column (saturating)
    /// above.
    var head: UInt32
    var line: UInt32
    /// Scalar: where its text starts. Collection: the index after its last descendant.
    var first: UInt32
    /// Scalar: bytes of text. Sequence: items. Mapping: entries.
    var count: UInt32
  }

  /// The name that diagnostics show.
  public let file: String
  let records: [Record]
  let text: [UInt8]

  init(file: String, records: [Record], text: [UInt8]) {
    self.file = file
    self.records = records
    self.text = text
  }

  /// Reads one document without anchors, aliases, tags, merge keys or repeated keys.
  public static func parse(
    _ bytes: [UInt8], file: String, limits: YAMLLimits = YAMLLimits()
  ) throws(YAMLError) -> YAMLDocument {
    guard bytes.count <= limits.bytes else {
      throw YAMLError(file: file, mark: YAMLMark(line: 1, column: 1), problem: .tooLong(limit: limits.bytes))
    }
    var builder = YAMLBuilder(file: file, limits: limits, capacity: bytes.count)
    try YAMLEvents.read(bytes, file: file, into: &builder)
    return try builder.finish()
  }

  public var root: YAMLNode { YAMLNode(document: self, index: 0) }
}
