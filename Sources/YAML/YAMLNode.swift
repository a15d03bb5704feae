/// A node of a document: a scalar, a sequence or a mapping.
public struct YAMLNode {
  /// The three kinds of nodes.
  public enum Kind: UInt32, Sendable {
    /// A text, including numbers, booleans and null.
    case scalar
    /// A list.
    case sequence
    /// A list of keys with their values.
    case mapping
  }

  /// The notation of a scalar. A reader of the document may interpret `yes` and `"yes"` differently.
  public enum Style: UInt32, Sendable {
    /// Without quotes.
    case plain
    /// In single or double quotes.
    case quoted
    /// A literal (`|`) or folded (`>`) block.
    case block
  }

  /// The document that contains the node. The reference keeps the document in memory.
  public let document: YAMLDocument
  let index: Int

  private var record: YAMLDocument.Record { document.record(index) }

  /// The kind of the node.
  public var kind: Kind { Kind(rawValue: record.kindAndColumn & 3) ?? .scalar }
  /// The notation of a scalar; `.plain` for a collection.
  public var style: Style { Style(rawValue: record.kindAndColumn >> 2 & 3) ?? .plain }
  /// The position of the first character of the node.
  public var mark: YAMLMark { YAMLMark(line: Int(record.line), column: Int(record.kindAndColumn >> 5)) }

  /// The text of a scalar; `nil` for a collection.
  public var text: String? {
    kind == .scalar ? document.text(index) : nil
  }

  /// True if a scalar has control characters, including line ends, so that its text does not fit on one line.
  public var hasControlCharacters: Bool { record.kindAndColumn & 16 != 0 }

  /// True for a plain scalar without text, for example the value of `key:` if nothing follows the colon.
  public var isEmpty: Bool { kind == .scalar && style == .plain && record.count == 0 }

  /// The number of items of a sequence, of entries of a mapping, or of bytes of a scalar.
  public var count: Int { Int(record.count) }

  /// The items of a sequence; empty for any other kind.
  public var items: YAMLItems { YAMLItems(node: self, kind: .sequence) }

  /// The entries of a mapping in the order of the file; empty for any other kind.
  public var entries: YAMLEntries { YAMLEntries(items: YAMLItems(node: self, kind: .mapping)) }

  /// The index after this node and its last descendant.
  var end: Int { kind == .scalar ? index + 1 : Int(record.textStartOrEnd) }
}

/// The children of a collection, in the order of the file.
public struct YAMLItems: Sequence, IteratorProtocol {
  private let document: YAMLDocument
  private var index: Int
  private let end: Int

  /// Creates the sequence of the children of `node`. The sequence is empty if the node is not of the expected `kind`.
  init(node: YAMLNode, kind: YAMLNode.Kind) {
    document = node.document
    index = node.index + 1
    end = node.kind == kind ? node.end : node.index + 1
  }

  /// Returns the next child; `nil` at the end.
  public mutating func next() -> YAMLNode? {
    guard index < end else { return nil }
    let node = YAMLNode(document: document, index: index)
    index = node.end
    return node
  }
}

/// The entries of a mapping, in the order of the file.
public struct YAMLEntries: Sequence, IteratorProtocol {
  /// A key of a mapping with its value.
  public struct Entry {
    /// The key, always a scalar.
    public let key: YAMLNode
    /// The value, of any kind.
    public let value: YAMLNode
  }

  private var items: YAMLItems

  init(items: YAMLItems) {
    self.items = items
  }

  /// Returns the next entry; `nil` at the end.
  public mutating func next() -> Entry? {
    guard let key = items.next(), let value = items.next() else { return nil }
    return Entry(key: key, value: value)
  }
}
