/// A QR code with error correction level M, which can be read if 15 % of it are damaged (ISO/IEC 18004).
///
/// A square of dark and light modules. Patterns of fixed form (`isFixed`) let readers find and align the code; the rest
/// contains the text. Section numbers are those of the edition of 2015.
public struct QRCode: Sendable, Equatable {
  /// The number of modules on each side.
  public let size: Int
  private var dark: [Bool]
  private var isFixed: [Bool]

  /// Creates the code of a text. Returns `nil` if the text has more than 213 bytes, which is the capacity of the largest
  /// supported version.
  public init?(_ text: String) {
    guard let version = QRVersion.smallest(forByteCount: text.utf8.count) else { return nil }
    self.init(version)
    place(version.codewords(of: Array(text.utf8)))
    // Section 7.8.3.1: the mask with the fewest features that confuse readers.
    let masked = (0..<8).map { mask in
      var code = self
      code.apply(mask: mask)
      return code
    }
    self = masked.min { $0.penalty < $1.penalty } ?? self
  }

  /// Creates a code without text.
  private init(_ version: QRVersion) {
    size = version.size
    dark = [Bool](repeating: false, count: size * size)
    isFixed = dark
    drawFixedPatterns(version)
  }

  /// True if the module is dark. The column and the row are counted from the upper left corner.
  public subscript(column: Int, row: Int) -> Bool { dark[row * size + column] }

  private mutating func set(_ column: Int, _ row: Int, _ isDark: Bool) {
    dark[row * size + column] = isDark
    isFixed[row * size + column] = true
  }

  // MARK: Patterns of fixed form

  private mutating func drawFixedPatterns(_ version: QRVersion) {
    // The timing patterns, section 6.3.5.
    for index in 0..<size {
      set(6, index, index.isMultiple(of: 2))
      set(index, 6, index.isMultiple(of: 2))
    }
    for (column, row) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(column, row) }
    let centers = version.alignmentCenters
    for column in centers {
      for row in centers {
        let isCorner = (column == 6 && row == 6) || (column == 6 && row == size - 7) || (column == size - 7 && row == 6)
        if !isCorner { drawAlignment(column, row) }
      }
    }
    drawFormat(mask: 0)
    drawVersion(version.number)
  }

  /// A finder pattern and its light separator, sections 6.3.3 and 6.3.4.
  private mutating func drawFinder(_ center: Int, _ middle: Int) {
    for row in max(0, middle - 4)...min(size - 1, middle + 4) {
      for column in max(0, center - 4)...min(size - 1, center + 4) {
        let distance = max(abs(column - center), abs(row - middle))
        set(column, row, distance != 2 && distance != 4)
      }
    }
  }

  private mutating func drawAlignment(_ center: Int, _ middle: Int) {
    for row in middle - 2...middle + 2 {
      for column in center - 2...center + 2 {
        set(column, row, max(abs(column - center), abs(row - middle)) != 1)
      }
    }
  }

  /// The level and the mask, section 7.9. The bits of level M are zero.
  private mutating func drawFormat(mask: Int) {
    let bits = (mask << 10 | QRCode.remainder(of: mask, degree: 10, 0x537)) ^ 0x5412
    func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
    for index in 0..<6 { set(8, index, bit(index)) }
    set(8, 7, bit(6))
    set(8, 8, bit(7))
    set(7, 8, bit(8))
    for index in 9..<15 { set(14 - index, 8, bit(index)) }
    for index in 0..<8 { set(size - 1 - index, 8, bit(index)) }
    for index in 8..<15 { set(8, size - 15 + index, bit(index)) }
    set(8, size - 8, true)
  }

  /// The version, section 7.10. Small codes do not have it.
  private mutating func drawVersion(_ number: Int) {
    guard number >= 7 else { return }
    let bits = number << 12 | QRCode.remainder(of: number, degree: 12, 0x1f25)
    for index in 0..<18 {
      let (place, line) = (size - 11 + index % 3, index / 3)
      set(place, line, bits >> index & 1 == 1)
      set(line, place, bits >> index & 1 == 1)
    }
  }

  /// Returns the check bits of a BCH code.
  private static func remainder(of value: Int, degree: Int, _ generator: Int) -> Int {
    var rest = value
    for _ in 0..<degree { rest = rest << 1 ^ (rest >> (degree - 1) & 1) * generator }
    return rest
  }

  // MARK: Text

  /// Section 7.7.3: pairs of columns from right to left, alternately upwards and downwards.
  private mutating func place(_ codewords: [UInt8]) {
    var index = 0
    var right = size - 1
    while right >= 1 {
      if right == 6 { right = 5 }
      for step in 0..<size {
        let row = (right + 1) & 2 == 0 ? size - 1 - step : step
        for column in [right, right - 1] where !isFixed[row * size + column] && index < codewords.count * 8 {
          dark[row * size + column] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
          index += 1
        }
      }
      right -= 2
    }
  }

  /// Section 7.8.2.
  private mutating func apply(mask: Int) {
    for row in 0..<size {
      for column in 0..<size where !isFixed[row * size + column] {
        let product = row * column
        let isInverted =
          switch mask {
          case 0: (row + column) % 2 == 0
          case 1: row % 2 == 0
          case 2: column % 3 == 0
          case 3: (row + column) % 3 == 0
          case 4: (row / 2 + column / 3) % 2 == 0
          case 5: product % 2 + product % 3 == 0
          case 6: (product % 2 + product % 3) % 2 == 0
          default: ((row + column) % 2 + product % 3) % 2 == 0
          }
        if isInverted { dark[row * size + column].toggle() }
      }
    }
    drawFormat(mask: mask)
  }

  // MARK: Masks

  /// A row or column through the center of a finder pattern.
  private static let finder = [true, false, true, true, true, false, true]

  /// Section 7.8.3.1.
  private var penalty: Int {
    var penalty = 0
    for line in 0..<size {
      penalty += QRCode.penalty(of: (0..<size).map { self[$0, line] })
      penalty += QRCode.penalty(of: (0..<size).map { self[line, $0] })
    }
    for row in 0..<size - 1 {
      for column in 0..<size - 1 {
        let first = self[column, row]
        if self[column + 1, row] == first, self[column, row + 1] == first, self[column + 1, row + 1] == first {
          penalty += 3
        }
      }
    }
    let darkCount = dark.count { $0 }
    // Ten points for each full 5 % by which the share of dark modules differs from a half.
    return penalty + abs(darkCount * 20 - dark.count * 10) / dark.count * 10
  }

  private static func penalty(of line: [Bool]) -> Int {
    var penalty = 0
    var run = 0
    for index in line.indices {
      run = index > 0 && line[index] == line[index - 1] ? run + 1 : 1
      if run == 5 { penalty += 3 } else if run > 5 { penalty += 1 }
    }
    // The same modules as in a finder pattern, next to four light modules. The border is light.
    for start in 0...line.count - finder.count where line[start...].starts(with: finder) {
      let end = start + finder.count
      let isLightBefore = !line[max(0, start - 4)..<start].contains(true)
      let isLightAfter = !line[end..<min(line.count, end + 4)].contains(true)
      if isLightBefore || isLightAfter { penalty += 40 }
    }
    return penalty
  }
}
