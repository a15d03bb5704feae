/// A reader for a deflate stream (RFC 1951) that follows the text of the RFC bit by bit.
struct InflateReader {
  private struct Invalid: Error {}

  /// Code lengths as counts, and symbols in the order of their codes (section 3.2.2).
  private struct Code {
    var counts = [Int](repeating: 0, count: 16)
    var symbols: [Int] = []

    /// Throws if the codes are not a tree, or if the tree has holes and is not the tree of a single code.
    init(_ lengths: [Int]) throws(Invalid) {
      for length in lengths { counts[length] += 1 }
      var left = 1
      for length in 1...15 {
        left = left * 2 - counts[length]
        if left < 0 { throw Invalid() }
      }
      for length in 1...15 {
        for (symbol, its) in lengths.enumerated() where its == length { symbols.append(symbol) }
      }
      if left > 0, lengths.count - counts[0] > 1 || symbols.count != counts[1] { throw Invalid() }
      counts[0] = 0
    }
  }

  private let bytes: [UInt8]
  private var position = 0
  private var bit = 0
  private var content: [UInt8] = []
  private let limit: Int

  /// The content of a stream that fills `bytes` exactly and has at most `limit` bytes; nil for all others.
  static func read(_ bytes: [UInt8], limit: Int) -> [UInt8]? {
    var reader = InflateReader(bytes: bytes, limit: limit)
    do {
      try reader.readBlocks()
    } catch {
      return nil
    }
    return reader.position + (reader.bit > 0 ? 1 : 0) == bytes.count ? reader.content : nil
  }

  private init(bytes: [UInt8], limit: Int) {
    self.bytes = bytes
    self.limit = limit
  }

  private mutating func bits(_ count: Int) throws(Invalid) -> Int {
    var value = 0
    for index in 0..<count {
      guard position < bytes.count else { throw Invalid() }
      value |= (Int(bytes[position]) >> bit & 1) << index
      bit += 1
      if bit == 8 {
        bit = 0
        position += 1
      }
    }
    return value
  }

  private mutating func append(_ byte: UInt8) throws(Invalid) {
    guard content.count < limit else { throw Invalid() }
    content.append(byte)
  }

  private mutating func readBlocks() throws(Invalid) {
    var isLast = false
    while !isLast {
      isLast = try bits(1) == 1
      switch try bits(2) {
      case 0: try readStored()
      case 1: try readCoded(InflateReader.fixed(), Code([Int](repeating: 5, count: 30) + [5, 5]))
      case 2: try readDynamic()
      default: throw Invalid()
      }
    }
  }

  private static func fixed() throws(Invalid) -> Code {
    try Code((0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 })
  }

  private mutating func readStored() throws(Invalid) {
    if bit > 0 {
      bit = 0
      position += 1
    }
    let length = try bits(16)
    guard try bits(16) == ~length & 0xffff else { throw Invalid() }
    for _ in 0..<length { try append(UInt8(try bits(8))) }
  }

  private mutating func symbol(_ code: Code) throws(Invalid) -> Int {
    var value = 0
    var first = 0
    var index = 0
    for length in 1...15 {
      value |= try bits(1)
      let count = code.counts[length]
      if value - count < first { return code.symbols[index + value - first] }
      index += count
      first = (first + count) << 1
      value <<= 1
    }
    throw Invalid()
  }

  private mutating func readDynamic() throws(Invalid) {
    let literals = try bits(5) + 257
    let distances = try bits(5) + 1
    let given = try bits(4) + 4
    guard literals <= 286, distances <= 30 else { throw Invalid() }
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    var lengths = [Int](repeating: 0, count: 19)
    for index in 0..<given { lengths[order[index]] = try bits(3) }
    let code = try Code(lengths)
    // The code for code lengths must be complete; a single code is not an exception.
    guard code.counts.enumerated().reduce(0, { $0 + $1.element << (15 - $1.offset) }) == 1 << 15 else {
      throw Invalid()
    }
    lengths = []
    while lengths.count < literals + distances {
      let symbol = try symbol(code)
      switch symbol {
      case 0..<16: lengths.append(symbol)
      case 16:
        guard let last = lengths.last else { throw Invalid() }
        lengths += [Int](repeating: last, count: 3 + (try bits(2)))
      case 17: lengths += [Int](repeating: 0, count: 3 + (try bits(3)))
      default: lengths += [Int](repeating: 0, count: 11 + (try bits(7)))
      }
    }
    guard lengths.count == literals + distances, lengths[256] > 0 else { throw Invalid() }
    try readCoded(Code(Array(lengths[..<literals])), Code(Array(lengths[literals...])))
  }

  private mutating func readCoded(_ literals: Code, _ distances: Code) throws(Invalid) {
    let bases = [
      3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
    ]
    let starts = [
      1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
      8193, 12289, 16385, 24577,
    ]
    while true {
      let symbol = try symbol(literals)
      if symbol < 256 {
        try append(UInt8(symbol))
        continue
      }
      if symbol == 256 { return }
      guard symbol < 286 else { throw Invalid() }
      let extra = symbol < 265 || symbol == 285 ? 0 : (symbol - 261) / 4
      let length = bases[symbol - 257] + (try bits(extra))
      let distance = try self.symbol(distances)
      guard distance < 30 else { throw Invalid() }
      let back = starts[distance] + (try bits(distance < 4 ? 0 : distance / 2 - 1))
      guard back <= content.count else { throw Invalid() }
      for _ in 0..<length { try append(content[content.count - back]) }
    }
  }
}
