/// A value of a document and where it stands.
public struct YAMLNode {
  public enum Kind: UInt32, Sendable {
    case scalar
    case sequence
    case mapping
  }

  /// How a scalar is written: `yes` and `"yes"` may mean different things to the reader.
  public enum Style: UInt32, Sendable {
    case plain
    case quoted
    /// `|` or `>`.
    case block
  }

  public let document: YAMLDocument
  let index: Int

  private var record: YAMLDocument.Record { document.record(index) }

  public var kind: Kind { Kind(rawValue: record.head & 3) ?? .scalar }
  public var style: Style { Style(rawValue: record.head >> 2 & 3) ?? .plain }
  public var mark: YAMLMark { YAMLMark(line: Int(record.line), column: Int(record.head >> 5)) }

  /// The text of a scalar; `nil` for a collection.
  public var text: String? {
    kind == .scalar ? document.text(index) : nil
  }

  /// True if a scalar has control characters, line ends among them: such text does not fit on one line.
  public var hasControlCharacters: Bool { record.head & 16 != 0 }

  /// True if this is a scalar without any text and without quotes: a key that nothing follows.
  public var isEmpty: Bool { kind == .scalar && style == .plain && record.count == 0 }

  /// Items of a sequence, entries of a mapping, bytes of a scalar.
  public var count: Int { Int(record.count) }

  /// The items of a sequence; nothing for any other kind.
  public var items: YAMLItems { YAMLItems(node: self, kind: .sequence) }

  /// The entries of a mapping in the order of the file; nothing for any other kind.
  public var entries: YAMLEntries { YAMLEntries(items: YAMLItems(node: self, kind: .mapping)) }

  /// The index after the last descendant.
  var end: Int { kind == .scalar ? index + 1 : Int(record.first) }
}

/// Walks over the children of a collection.
public struct YAMLItems: Sequence, IteratorProtocol {
  private let document: YAMLDocument
  private var index: Int
  private let end: Int

  init(node: YAMLNode, kind: YAMLNode.Kind) {
    document = node.document
    index = node.index + 1
    end = node.kind == kind ? node.end : node.index + 1
  }

  public mutating func next() -> YAMLNode? {
    guard index < end else { return nil }
    let node = YAMLNode(document: document, index: index)
    index = node.end
    return node
  }
}

/// Walks over the entries of a mapping.
public struct YAMLEntries: Sequence, IteratorProtocol {
  public struct Entry {
    public let key: YAMLNode
    public let value: YAMLNode
  }

  private var items: YAMLItems

  init(items: YAMLItems) {
    self.items = items
  }

  public mutating func next() -> Entry? {
    guard let key = items.next(), let value = items.next() else { return nil }
    return Entry(key: key, value: value)
  }
}
