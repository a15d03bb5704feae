/// One parsed file, as a list of its nodes (scalars, sequences and mappings) in the order of the file. The nodes are
/// stored in pages.
///
/// A tree of objects would need an allocation for each node, and a policy of 100,000 clients has millions of nodes. The
/// reader of policies builds the policy while it reads the document. To save memory, it frees each page that it has
/// read completely.
public final class YAMLDocument {
  /// A node in 16 bytes.
  struct Record {
    /// Bits 0 and 1: kind. Bits 2 and 3: style. Bit 4: 1 if the text has control characters. The other 27 bits: the
    /// column; a column that does not fit is stored as the highest number that fits.
    var kindAndColumn: UInt32
    /// The line, from 1.
    var line: UInt32
    /// For a scalar: the offset of its text in its page. For a collection: the index after its last descendant.
    var textStartOrEnd: UInt32
    /// The number of bytes of a scalar's text, of items of a sequence, or of entries of a mapping.
    var count: UInt32
  }

  /// A number of consecutive nodes and the texts of their scalars.
  struct Page {
    /// The number of nodes in a page. With a smaller number, a document would have more pages. With a larger number, a
    /// page with its text would often be so large that the allocator makes a system call for each block.
    static let length = 2048

    var records: [Record] = []
    var text: [UInt8] = []
  }

  /// The name of the file, for diagnostics.
  public let file: String
  private var pages: [Page]
  /// The index of the next page that `freeItems(of:through:)` may free.
  private var nextPageToFree = 0

  init(file: String, pages: [Page]) {
    self.file = file
    self.pages = pages
  }

  /// Parses a file in UTF-8 that contains one document. Throws `YAMLError` for a syntax error, an empty file, a second
  /// document, an anchor, alias, tag, tag directive, merge key or repeated key, a key that is not a scalar, and a file
  /// that exceeds `limits`.
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

  /// Frees the pages in which every node is one of the items of `list` up to and including `item`, or a descendant of
  /// these items. The caller must not use these items and descendants afterwards. All other nodes stay valid.
  public func freeItems(of list: YAMLNode, through item: YAMLNode) {
    // The page of `list` and the page of the first node after `item` stay, because they may contain other nodes.
    nextPageToFree = max(nextPageToFree, list.index / Page.length + 1)
    let end = item.end / Page.length
    while nextPageToFree < end {
      pages[nextPageToFree] = Page()
      nextPageToFree += 1
    }
  }

  /// Frees all pages. The caller must not use any node afterwards.
  public func freeAll() {
    pages = []
  }

  func record(_ index: Int) -> Record { pages[index / Page.length].records[index % Page.length] }

  func text(_ index: Int) -> String {
    let page = pages[index / Page.length]
    let record = page.records[index % Page.length]
    let start = Int(record.textStartOrEnd)
    return String(decoding: page.text[start..<start + Int(record.count)], as: UTF8.self)
  }
}
