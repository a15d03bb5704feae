/// A version of QR codes: a size, and the division of the codewords into blocks with error correction level M (ISO/IEC
/// 18004:2015, tables 7 and 9, and annex E).
struct QRVersion: Sendable {
  let number: Int
  /// The number of error correction codewords in each block.
  let checkLength: Int
  /// The number of data codewords in each block.
  let blockLengths: [Int]
  /// The columns and rows of the centers of alignment patterns.
  let alignmentCenters: [Int]

  /// The versions that an address of a device page needs.
  private static let all: [QRVersion] = [
    QRVersion(number: 1, checkLength: 10, blockLengths: [16], alignmentCenters: []),
    QRVersion(number: 2, checkLength: 16, blockLengths: [28], alignmentCenters: [6, 18]),
    QRVersion(number: 3, checkLength: 26, blockLengths: [44], alignmentCenters: [6, 22]),
    QRVersion(number: 4, checkLength: 18, blockLengths: [32, 32], alignmentCenters: [6, 26]),
    QRVersion(number: 5, checkLength: 24, blockLengths: [43, 43], alignmentCenters: [6, 30]),
    QRVersion(number: 6, checkLength: 16, blockLengths: [27, 27, 27, 27], alignmentCenters: [6, 34]),
    QRVersion(number: 7, checkLength: 18, blockLengths: [31, 31, 31, 31], alignmentCenters: [6, 22, 38]),
    QRVersion(number: 8, checkLength: 22, blockLengths: [38, 38, 39, 39], alignmentCenters: [6, 24, 42]),
    QRVersion(number: 9, checkLength: 22, blockLengths: [36, 36, 36, 37, 37], alignmentCenters: [6, 26, 46]),
    QRVersion(number: 10, checkLength: 26, blockLengths: [43, 43, 43, 43, 44], alignmentCenters: [6, 28, 50]),
  ]

  /// Returns the smallest version that has room for a text; `nil` if none has.
  static func smallest(forByteCount count: Int) -> QRVersion? {
    all.first { version in 4 + version.countLength + count * 8 <= version.capacity * 8 }
  }

  /// The number of modules on each side.
  var size: Int { 17 + number * 4 }
  /// The number of data codewords.
  private var capacity: Int { blockLengths.reduce(0, +) }
  /// The number of bits of the length of the text.
  private var countLength: Int { number < 10 ? 8 : 16 }

  /// Returns the data codewords of a text in byte mode and the error correction codewords, in the order in which they are
  /// placed (sections 7.4 to 7.6).
  func codewords(of text: [UInt8]) -> [UInt8] {
    var bits: [UInt8] = []
    func append(_ value: Int, _ count: Int) {
      for index in (0..<count).reversed() { bits.append(UInt8(value >> index & 1)) }
    }
    append(0b0100, 4)
    append(text.count, countLength)
    for byte in text { append(Int(byte), 8) }
    append(0, min(4, capacity * 8 - bits.count))
    append(0, (8 - bits.count % 8) % 8)
    var data = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
    }
    for index in 0..<capacity - data.count { data.append(index.isMultiple(of: 2) ? 0xec : 0x11) }

    var blocks: [[UInt8]] = []
    for length in blockLengths {
      blocks.append(Array(data.prefix(length)))
      data.removeFirst(length)
    }
    let checks = blocks.map { ReedSolomon.check(of: $0, count: checkLength) }
    return QRVersion.interleaved(blocks) + QRVersion.interleaved(checks)
  }

  private static func interleaved(_ blocks: [[UInt8]]) -> [UInt8] {
    let longest = blocks.map(\.count).max() ?? 0
    return (0..<longest).flatMap { index in blocks.compactMap { index < $0.count ? $0[index] : nil } }
  }
}

/// Reed-Solomon codes over the field of 256 elements with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (section 7.5.2).
enum ReedSolomon {
  /// Returns the remainder of the data divided by the generator polynomial of degree `count`.
  static func check(of data: [UInt8], count: Int) -> [UInt8] {
    let divisor = generator(degree: count)
    var rest = [UInt8](repeating: 0, count: count)
    for byte in data {
      let factor = byte ^ rest.removeFirst()
      rest.append(0)
      for index in rest.indices { rest[index] ^= product(divisor[index], factor) }
    }
    return rest
  }

  /// The coefficients of (x - 1)(x - 2)(x - 4)..., without the first one, which is 1.
  private static func generator(degree: Int) -> [UInt8] {
    var coefficients = [UInt8](repeating: 0, count: degree - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<degree {
      for index in coefficients.indices {
        coefficients[index] = product(coefficients[index], root)
        if index + 1 < degree { coefficients[index] ^= coefficients[index + 1] }
      }
      root = product(root, 2)
    }
    return coefficients
  }

  static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
    var product: UInt8 = 0
    for index in (0..<8).reversed() {
      product = product << 1 ^ (product >> 7) * 0x1d
      product ^= (right >> index & 1) * left
    }
    return product
  }
}
