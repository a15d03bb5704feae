/// One parsed file: all nodes in the order of the file, in pages that a reader can give back while it goes on.
///
/// The usual tree of boxes costs an allocation per node; a policy of 100,000 clients has millions of them. And what such a
/// policy is read into needs memory, too: as much of the file goes as of the policy comes.
public final class YAMLDocument {
  /// A node in 16 bytes.
  struct Record {
    /// Kind in bits 0 and 1, style in bits 2 and 3, whether there are control characters in bit 4, column (saturating)
    /// above.
    var head: UInt32
    var line: UInt32
    /// Scalar: where its text starts in its page. Collection: the index after its last descendant.
    var first: UInt32
    /// Scalar: bytes of text. Sequence: items. Mapping: entries.
    var count: UInt32
  }

  /// Some nodes that stand one after the other, with their text.
  struct Page {
    /// Large enough to be found fast, small enough that a few of them are no matter; with its text it is below what the
    /// allocator asks the system for one by one.
    static let length = 2048

    var records: [Record] = []
    var text: [UInt8] = []
  }

  /// The name that diagnostics show.
  public let file: String
  private var pages: [Page]
  /// Pages of the list that is being given back, up to here, are empty.
  private var forgotten = 0

  init(file: String, pages: [Page]) {
    self.file = file
    self.pages = pages
  }

  /// Reads one document without anchors, aliases, tags, merge keys or repeated keys.
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

  public var root: YAMLNode { YAMLNode(document: self, index: 0) }

  /// Gives back what the items of `list` up to and with `item` take: neither they nor what is in them may be used any
  /// more. What stands elsewhere in the document stays.
  public func forget(_ list: YAMLNode, through item: YAMLNode) {
    // The first and the last page may hold other nodes, too.
    forgotten = max(forgotten, list.index / Page.length + 1)
    let end = item.end / Page.length
    while forgotten < end {
      pages[forgotten] = Page()
      forgotten += 1
    }
  }

  /// Gives everything back; no node may be used any more.
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
