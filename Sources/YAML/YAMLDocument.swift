/// One parsed file: all nodes in the order of the file. They are stored in pages, which a reader can free as it
/// proceeds.
///
/// A tree of objects would need an allocation per node, and a policy of 100,000 clients has millions of nodes. The
/// policy that the reader builds needs memory too, so the reader frees the pages that it has read.
public final class YAMLDocument {
  /// A node in 16 bytes.
  struct Record {
    /// Bits 0 and 1: kind. Bits 2 and 3: style. Bit 4: 1 if the text has control characters. Above: column, saturating.
    var head: UInt32
    /// The line, from 1.
    var line: UInt32
    /// Scalar: the offset of its text in its page. Collection: the index after its last descendant.
    var first: UInt32
    /// Scalar: bytes of text. Sequence: items. Mapping: entries.
    var count: UInt32
  }

  /// Consecutive nodes with their text.
  struct Page {
    /// The number of nodes in a page. It is large enough that there are few pages, and small enough that a few unused
    /// pages do not matter. A page with its text is usually smaller than the blocks for which the allocator makes a
    /// system call.
    static let length = 2048

    var records: [Record] = []
    var text: [UInt8] = []
  }

  /// The name that diagnostics show.
  public let file: String
  private var pages: [Page]
  /// The index after the last page that `forget(_:through:)` has freed.
  private var forgotten = 0

  init(file: String, pages: [Page]) {
    self.file = file
    self.pages = pages
  }

  /// Parses one document of UTF-8. Throws `YAMLError` on a syntax error, a second document, an anchor, alias, tag,
  /// merge key or repeated key, and on a file beyond `limits`.
  public static func parse(
    _ bytes: [UInt8], file: String, limits: YAMLLimits = YAMLLimits()
  ) throws(YAMLError) -> YAMLDocument {
    guard bytes.count <= limits.bytes else {
      throw YAMLError(file: file, mark: YAMLMark(line: 1, column: 1), problem: .tooLong(limit: limits.bytes))
    }
    var builder = YAMLBuilder(file: file, limits: limits)
    try YAMLEvents.read(bytes, file: file, into: &builder)
    return try builder.finish()
  }

  /// The outermost value of the document.
  public var root: YAMLNode { YAMLNode(document: self, index: 0) }

  /// Frees the pages that contain only items of `list` up to and including `item`. The caller must not use these items
  /// or their descendants afterwards. All other nodes of the document stay.
  public func forget(_ list: YAMLNode, through item: YAMLNode) {
    // The first and the last page stay, because they may contain other nodes.
    forgotten = max(forgotten, list.index / Page.length + 1)
    let end = item.end / Page.length
    while forgotten < end {
      pages[forgotten] = Page()
      forgotten += 1
    }
  }

  /// Frees all pages. The caller must not use any node afterwards.
  public func forget() {
    pages = []
  }

  func record(_ index: Int) -> Record { pages[index / Page.length].records[index % Page.length] }

  func text(_ index: Int) -> String {
    let page = pages[index / Page.length]
    let record = page.records[index % Page.length]
    return String(decoding: page.text[Int(record.first)..<Int(record.first + record.count)], as: UTF8.self)
  }
}
