import OAuth

/// Input: a text that a user typed. A code that is read has only letters of the alphabet, in the order of the input, and
/// the code that a page shows reads as the same one.
enum UserCodeTarget {
  private static let alphabet = "BCDFGHJKLMNPQRSTVWXZ"

  static func check(_ input: [UInt8]) throws(Violation) {
    let text = String(decoding: input, as: UTF8.self)
    let letters = text.unicodeScalars.filter(\.isASCII).map { String($0).uppercased() }.filter(alphabet.contains)
    let isCode = (letters.count == 8 || letters.count == 12) && text.utf8.count <= UserCode.maximumTypedLength
    guard let code = UserCode(typed: text) else {
      return try Violation.unless(!isCode, "a code is refused")
    }
    try Violation.unless(isCode && code.letters == letters.joined(), "letters are lost or added")
    for shown in [code.text, code.text.lowercased(), " \(code.letters)\n"] {
      try Violation.unless(UserCode(typed: shown) == code, "`\(shown)` reads as another code")
    }
    let again = UserCode(length: UserCode.usualLength, random: input)
    guard let again else { return }
    try Violation.unless(UserCode(typed: again.text) == again, "a new code does not read as it was made")
  }
}
