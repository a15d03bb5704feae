internal import ByteText

/// The letters and digits of the names of all known parameters, for a search in names of any length: one pass finds all
/// of them.
struct ParameterWords: Sendable {
  private struct Word: Sendable {
    let parameter: ParameterName
    let letters: [UInt8]
    /// True if the name consists of several words, so that it may be a part of another name.
    let mayBePart: Bool
  }

  /// The table of all known parameters.
  static let all = ParameterWords()

  /// The words by their first letter. The index is the byte of this letter.
  private let words: [[Word]]

  private init() {
    let all = ParameterName.allCases.map { parameter in
      let name = Array(parameter.text.utf8)
      return Word(
        parameter: parameter, letters: ParameterWords.lettersAndDigits(name),
        mayBePart: name.contains(UInt8(ascii: "_")))
    }
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
    let (letters, words) = (letters.span, words.span)
    for start in letters.indices {
      let candidates = words[Int(letters[start])].span
      for index in candidates.indices where candidates[index].mayBePart || start == 0 {
        let count = candidates[index].letters.count
        guard count <= letters.count - start, candidates[index].mayBePart || count == letters.count,
          letters.extracting(start..<start + count).isEqual(to: candidates[index].letters.span)
        else { continue }
        found.formUnion(ParameterNames(candidates[index].parameter))
      }
    }
    return found
  }
}
