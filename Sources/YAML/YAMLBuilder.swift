/// Builds a document from the events of a YAML parser. It does not call libyaml itself. Its methods throw an error for
/// features that the policy format does not allow, and for a document that exceeds the limits.
struct YAMLBuilder {
  /// A sequence or mapping whose end has not been parsed yet.
  private struct OpenCollection {
    let index: Int
    let isMapping: Bool
    /// The number of items of a sequence, or of keys and values of a mapping.
    var childCount = 0
  }

  private let file: String
  private let limits: YAMLLimits
  private var pages: [YAMLDocument.Page] = []
  private var nodeCount = 0
  private var openCollections: [OpenCollection] = []
  private var documentCount = 0

  init(file: String, limits: YAMLLimits) {
    self.file = file
    self.limits = limits
  }

  mutating func startDocument(at mark: YAMLMark) throws(YAMLError) {
    documentCount += 1
    guard documentCount == 1 else { throw error(.secondDocument, at: mark) }
  }

  mutating func addScalar(_ bytes: Span<UInt8>, style: YAMLNode.Style, at mark: YAMLMark) throws(YAMLError) {
    var hasControlCharacters = false
    for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7f { hasControlCharacters = true }
    try add(.scalar, style: style, hasControlCharacters: hasControlCharacters, textLength: bytes.count, at: mark)
    let page = pages.count - 1
    // Sound: the array copies the bytes before the closure returns. Copying byte by byte would take three times as
    // long.
    unsafe bytes.withUnsafeBufferPointer { unsafe pages[page].text.append(contentsOf: $0) }
    let isMergeKey = bytes.count == 2 && style == .plain && bytes[0] == UInt8(ascii: "<") && bytes[1] == bytes[0]
    guard !isMergeKey else { throw error(.mergeKey, at: mark) }
  }

  mutating func startCollection(isMapping: Bool, at mark: YAMLMark) throws(YAMLError) {
    guard openCollections.count < limits.depth else { throw error(.tooDeep(limit: limits.depth), at: mark) }
    // In a mapping, an even number of children means that the next one is a key.
    if let parent = openCollections.last, parent.isMapping, parent.childCount.isMultiple(of: 2) {
      throw error(.keyIsNotText, at: mark)
    }
    try add(isMapping ? .mapping : .sequence, style: .plain, textLength: 0, at: mark)
    openCollections.append(OpenCollection(index: nodeCount - 1, isMapping: isMapping))
  }

  mutating func endCollection() throws(YAMLError) {
    guard let collection = openCollections.popLast() else { return }
    let (page, position) = collection.index.quotientAndRemainder(dividingBy: YAMLDocument.Page.length)
    pages[page].records[position].textStartOrEnd = UInt32(nodeCount)
    pages[page].records[position].count = UInt32(
      collection.isMapping ? collection.childCount / 2 : collection.childCount)
    if collection.isMapping { try refuseRepeatedKeys(from: collection.index + 1) }
  }

  func finish() throws(YAMLError) -> YAMLDocument {
    guard nodeCount > 0 else { throw error(.emptyDocument, at: YAMLMark(line: 1, column: 1)) }
    return YAMLDocument(file: file, pages: pages)
  }

  func error(_ problem: YAMLError.Problem, at mark: YAMLMark) -> YAMLError {
    YAMLError(file: file, mark: mark, problem: problem)
  }

  private mutating func add(
    _ kind: YAMLNode.Kind, style: YAMLNode.Style, hasControlCharacters: Bool = false, textLength: Int,
    at mark: YAMLMark
  ) throws(YAMLError) {
    guard nodeCount < limits.nodes else { throw error(.tooManyNodes(limit: limits.nodes), at: mark) }
    let column = UInt32(min(mark.column, 0x7ff_ffff))
    if nodeCount.isMultiple(of: YAMLDocument.Page.length) {
      var page = YAMLDocument.Page()
      page.records.reserveCapacity(YAMLDocument.Page.length)
      pages.append(page)
    }
    let page = pages.count - 1
    let textStart = pages[page].text.count
    // `YAMLDocument.Record` documents the bits of `kindAndColumn`. For a collection, `endCollection` sets
    // `textStartOrEnd` and `count` later.
    pages[page].records.append(
      YAMLDocument.Record(
        kindAndColumn: kind.rawValue | style.rawValue << 2 | (hasControlCharacters ? 16 : 0) | column << 5,
        line: UInt32(clamping: mark.line), textStartOrEnd: UInt32(textStart), count: UInt32(textLength)))
    nodeCount += 1
    if !openCollections.isEmpty { openCollections[openCollections.count - 1].childCount += 1 }
  }

  /// Throws if a key of a mapping occurs twice. In a small mapping, all pairs of keys are compared. In a large mapping,
  /// the keys are sorted first, because comparing all pairs would take quadratic time.
  ///
  /// - Parameter start: The index of the first key.
  private func refuseRepeatedKeys(from start: Int) throws(YAMLError) {
    var keys: [Int] = []
    var index = start
    while index < nodeCount {
      keys.append(index)
      let value = index + 1
      index = isScalar(value) ? value + 1 : Int(record(value).textStartOrEnd)
    }
    if keys.count <= 24 {
      for (position, key) in keys.enumerated() {
        for earlier in keys[..<position] where haveSameText(earlier, key) { throw duplicateKeyError(key, earlier) }
      }
    } else {
      keys.sort { left, right in
        let (leftText, rightText) = (text(left), text(right))
        return leftText.elementsEqual(rightText) ? left < right : leftText.lexicographicallyPrecedes(rightText)
      }
      for (earlier, key) in zip(keys, keys.dropFirst()) where haveSameText(earlier, key) {
        throw duplicateKeyError(key, earlier)
      }
    }
  }

  private func duplicateKeyError(_ key: Int, _ earlier: Int) -> YAMLError {
    let name = String(decoding: text(key), as: UTF8.self)
    return error(.duplicateKey(name, first: mark(earlier)), at: mark(key))
  }

  private func record(_ index: Int) -> YAMLDocument.Record {
    pages[index / YAMLDocument.Page.length].records[index % YAMLDocument.Page.length]
  }

  private func isScalar(_ index: Int) -> Bool { record(index).kindAndColumn & 3 == YAMLNode.Kind.scalar.rawValue }

  private func mark(_ index: Int) -> YAMLMark {
    YAMLMark(line: Int(record(index).line), column: Int(record(index).kindAndColumn >> 5))
  }

  private func text(_ index: Int) -> ArraySlice<UInt8> {
    let record = record(index)
    let start = Int(record.textStartOrEnd)
    return pages[index / YAMLDocument.Page.length].text[start..<start + Int(record.count)]
  }

  private func haveSameText(_ left: Int, _ right: Int) -> Bool {
    record(left).count == record(right).count && text(left).elementsEqual(text(right))
  }
}
