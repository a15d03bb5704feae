internal import ByteText

/// The letters and digits of the names of all known parameters, for a search in names of any length: one pass finds all
/// of them.
struct ParameterWords: Sendable {
  private struct Word: Sendable {
    let parameter: ParameterName
    let letters: [UInt8]
    /// The first letters, at most eight, as `Span.word(at:)` reads them, and a mask for as many bytes.
    let start: UInt64
    let mask: UInt64
    /// True if the name consists of several words, so that it may be a part of another name.
    let mayBePart: Bool

    init(_ parameter: ParameterName) {
      let name = Array(parameter.text.utf8)
      self.parameter = parameter
      letters = ParameterWords.lettersAndDigits(name)
      start = (letters + ParameterWords.padding).span.word(at: 0)
      mask = letters.count < 8 ? ~(.max << (8 * letters.count)) : .max
      mayBePart = name.contains(UInt8(ascii: "_"))
    }
  }

  /// Bytes after a text, so that a word can be read at each of its bytes.
  private static let padding = [UInt8](repeating: 0, count: 8)

  /// The table of all known parameters.
  static let all = ParameterWords()

  /// The words by their first letter. The index is the byte of this letter.
  private let words: [[Word]]

  private init() {
    let all = ParameterName.allCases.map(Word.init)
    words = (0..<128).map { byte in all.filter { $0.letters.first.map(Int.init) == byte } }
  }

  /// Returns only the letters and digits, in lower case.
  static func lettersAndDigits(_ name: [UInt8]) -> [UInt8] {
    var letters: [UInt8] = []
    letters.reserveCapacity(name.count)
    for byte in name where byte.isLetterOrDigit { letters.append(byte.lowercasedASCII) }
    return letters
  }

  /// Returns the parameters of one word that equal `letters`, and those of several words that are any part of it.
  func parameters(in letters: [UInt8]) -> ParameterNames {
    var found: ParameterNames = []
    let padded = letters + ParameterWords.padding
    let (bytes, words) = (padded.span, words.span)
    var start = 0
    while start < letters.count {
      let candidates = words[Int(bytes[start])].span
      let word = candidates.isEmpty ? 0 : bytes.word(at: start)
      for index in candidates.indices where (word ^ candidates[index].start) & candidates[index].mask == 0 {
        let count = candidates[index].letters.count
        let isWhole = start == 0 && count == letters.count
        guard isWhole || candidates[index].mayBePart, count <= letters.count - start,
          bytes.extracting(start..<start + count).isEqual(to: candidates[index].letters.span)
        else { continue }
        found.formUnion(ParameterNames(candidates[index].parameter))
      }
      start &+= 1
    }
    return found
  }
}
