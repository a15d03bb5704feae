/// Splits a command line into words, as a POSIX shell does: quotes, backslashes, line continuations, and `$'...'`,
/// which browsers write. A command line that needs more of a shell, such as a variable, is refused.
enum ShellWords {
  static func split(_ text: String) throws(RequestTextError) -> [String] {
    var words: [String] = []
    var word: String?
    var rest = Array(text)[...]
    while let character = rest.popFirst() {
      switch character {
      case "'": word = (word ?? "") + (try quoted(&rest))
      case "\"": word = (word ?? "") + (try doubleQuoted(&rest))
      case "$" where rest.first == "'":
        rest.removeFirst()
        word = (word ?? "") + (try escaped(&rest))
      case "\\":
        guard let next = rest.popFirst() else { throw RequestTextError("the command line ends in a backslash") }
        if !next.isNewline { word = (word ?? "") + String(next) }
      case "|", "<", ">", ";", "&", "`", "$":
        throw RequestTextError("`\(character)` outside of quotes is not supported; write the curl command alone")
      case _ where character.isWhitespace:
        if let complete = word { words.append(complete) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }

  private static func quoted(_ rest: inout ArraySlice<Character>) throws(RequestTextError) -> String {
    var text = ""
    while let character = rest.popFirst() {
      if character == "'" { return text }
      text.append(character)
    }
    throw RequestTextError("a single quote is not closed")
  }

  private static func doubleQuoted(_ rest: inout ArraySlice<Character>) throws(RequestTextError) -> String {
    var text = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return text
      case "$", "`":
        throw RequestTextError("`\(character)` between double quotes is not supported; write the value itself")
      case "\\":
        guard let next = rest.popFirst() else { throw RequestTextError("a double quote is not closed") }
        if next.isNewline { continue }
        text += "\"\\$`".contains(next) ? String(next) : "\\\(next)"
      default: text.append(character)
      }
    }
    throw RequestTextError("a double quote is not closed")
  }

  /// Reads the rest of `$'...'`.
  private static func escaped(_ rest: inout ArraySlice<Character>) throws(RequestTextError) -> String {
    var text = ""
    while let character = rest.popFirst() {
      if character == "'" { return text }
      guard character == "\\" else {
        text.append(character)
        continue
      }
      switch rest.popFirst() {
      case "n": text += "\n"
      case "r": text += "\r"
      case "t": text += "\t"
      case "u":
        let digits = String(rest.prefix(4))
        guard digits.count == 4, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
          throw RequestTextError("`\\u` in a quoted text needs four hexadecimal digits")
        }
        rest = rest.dropFirst(4)
        text.unicodeScalars.append(scalar)
      case .some(let next) where "\\'\"!".contains(next): text.append(next)
      default: throw RequestTextError("an escape between `$'` and `'` is not supported; write the character itself")
      }
    }
    throw RequestTextError("`$'` is not closed")
  }
}
