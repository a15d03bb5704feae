import OAuth

/// Input: a resource identifier, or an `Authorization` field. An accepted identifier is kept as written and has no second
/// reading; an accepted token has no space, comma or quotation mark.
enum ResourceTarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    guard let text = String(validating: input, as: UTF8.self) else { return }
    if let uri = ResourceURI(parsing: text) {
      try Violation.unless(uri.text.utf8.elementsEqual(text.utf8), "the text was changed")
      let forbidden = Set(" \\#<>\"{}|^`".utf8)
      try Violation.unless(
        input.allSatisfy { $0 > 0x20 && $0 < 0x7f } && forbidden.isDisjoint(with: input),
        "a character with two readings")
      try Violation.unless(
        input.count <= ResourceURI.maximumLength && input.contains(UInt8(ascii: ":")), "not absolute")
    }
    if let bearer = BearerToken(parsing: text) {
      let token = bearer.token.reveal()
      let forbidden = Set(" ,\"\t\r\n".utf8)
      try Violation.unless(!token.isEmpty && forbidden.isDisjoint(with: token.utf8), "not one token")
      try Violation.unless(text.hasSuffix(token), "the token was changed")
    }
  }
}
