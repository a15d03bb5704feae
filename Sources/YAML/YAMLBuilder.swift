/// Builds a document from the events of a YAML parser. Throws an error for features that the policy format does not
/// allow. It does not depend on libyaml.
struct YAMLBuilder {
  private struct Open {
    let index: Int
    let isMapping: Bool
    var children = 0
  }

  private let file: String
  private let limits: YAMLLimits
  private var pages: [YAMLDocument.Page] = []
  private var count = 0
  private var stack: [Open] = []
  private var documents = 0

  init(file: String, limits: YAMLLimits) {
    self.file = file
    self.limits = limits
  }

  mutating func startDocument(at mark: YAMLMark) throws(YAMLError) {
    documents += 1
    guard documents == 1 else { throw error(.secondDocument, at: mark) }
  }

  mutating func scalar(_ bytes: Span<UInt8>, style: YAMLNode.Style, at mark: YAMLMark) throws(YAMLError) {
    var hasControl = false
    for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7f { hasControl = true }
    try add(.scalar, style: style, hasControl: hasControl, count: bytes.count, at: mark)
    let page = pages.count - 1
    // Sound: the array copies the bytes before the closure returns. Copying byte by byte would take three times as
    // long.
    unsafe bytes.withUnsafeBufferPointer { unsafe pages[page].text.append(contentsOf: $0) }
    let isMergeKey = bytes.count == 2 && style == .plain && bytes[0] == UInt8(ascii: "<") && bytes[1] == bytes[0]
    guard !isMergeKey else { throw error(.mergeKey, at: mark) }
  }

  mutating func startCollection(isMapping: Bool, at mark: YAMLMark) throws(YAMLError) {
    guard stack.count < limits.depth else { throw error(.tooDeep(limit: limits.depth), at: mark) }
    if let parent = stack.last, parent.isMapping, parent.children.isMultiple(of: 2) {
      throw error(.keyIsNotText, at: mark)
    }
    try add(isMapping ? .mapping : .sequence, style: .plain, count: 0, at: mark)
    stack.append(Open(index: count - 1, isMapping: isMapping))
  }

  mutating func endCollection() throws(YAMLError) {
    guard let open = stack.popLast() else { return }
    let (page, position) = open.index.quotientAndRemainder(dividingBy: YAMLDocument.Page.length)
    pages[page].records[position].first = UInt32(count)
    pages[page].records[position].count = UInt32(open.isMapping ? open.children / 2 : open.children)
    if open.isMapping { try refuseRepeatedKeys(from: open.index + 1) }
  }

  func finish() throws(YAMLError) -> YAMLDocument {
    guard count > 0 else { throw error(.emptyDocument, at: YAMLMark(line: 1, column: 1)) }
    return YAMLDocument(file: file, pages: pages)
  }

  func error(_ problem: YAMLError.Problem, at mark: YAMLMark) -> YAMLError {
    YAMLError(file: file, mark: mark, problem: problem)
  }

  private mutating func add(
    _ kind: YAMLNode.Kind, style: YAMLNode.Style, hasControl: Bool = false, count bytes: Int, at mark: YAMLMark
  ) throws(YAMLError) {
    guard count < limits.nodes else { throw error(.tooManyNodes(limit: limits.nodes), at: mark) }
    let column = UInt32(min(mark.column, 0x7ff_ffff))
    if count.isMultiple(of: YAMLDocument.Page.length) {
      var page = YAMLDocument.Page()
      page.records.reserveCapacity(YAMLDocument.Page.length)
      pages.append(page)
    }
    let page = pages.count - 1
    let start = pages[page].text.count
    pages[page].records.append(
      YAMLDocument.Record(
        head: kind.rawValue | style.rawValue << 2 | (hasControl ? 16 : 0) | column << 5,
        line: UInt32(clamping: mark.line), first: UInt32(start), count: UInt32(bytes)))
    count += 1
    if !stack.isEmpty { stack[stack.count - 1].children += 1 }
  }

  /// Throws if a key of the mapping occurs twice. Compares all pairs of keys in a small mapping, and sorts the keys of
  /// a large one, so that no file takes quadratic time.
  private func refuseRepeatedKeys(from start: Int) throws(YAMLError) {
    var keys: [Int] = []
    var index = start
    while index < count {
      keys.append(index)
      let value = index + 1
      index = isScalar(value) ? value + 1 : Int(record(value).first)
    }
    if keys.count <= 24 {
      for (position, key) in keys.enumerated() {
        for earlier in keys[..<position] where same(earlier, key) { throw repeated(key, earlier) }
      }
    } else {
      keys.sort { left, right in
        let (one, other) = (content(left), content(right))
        return one.elementsEqual(other) ? left < right : one.lexicographicallyPrecedes(other)
      }
      for (earlier, key) in zip(keys, keys.dropFirst()) where same(earlier, key) { throw repeated(key, earlier) }
    }
  }

  private func repeated(_ key: Int, _ earlier: Int) -> YAMLError {
    let name = String(decoding: content(key), as: UTF8.self)
    return error(.duplicateKey(name, first: mark(earlier)), at: mark(key))
  }

  private func record(_ index: Int) -> YAMLDocument.Record {
    pages[index / YAMLDocument.Page.length].records[index % YAMLDocument.Page.length]
  }

  private func isScalar(_ index: Int) -> Bool { record(index).head & 3 == YAMLNode.Kind.scalar.rawValue }

  private func mark(_ index: Int) -> YAMLMark {
    YAMLMark(line: Int(record(index).line), column: Int(record(index).head >> 5))
  }

  private func content(_ index: Int) -> ArraySlice<UInt8> {
    let record = record(index)
    return pages[index / YAMLDocument.Page.length].text[Int(record.first)..<Int(record.first + record.count)]
  }

  private func same(_ left: Int, _ right: Int) -> Bool {
    record(left).count == record(right).count && content(left).elementsEqual(content(right))
  }
}
