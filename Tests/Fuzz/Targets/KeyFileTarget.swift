import Sealing

/// Input: a key file. An accepted file is written as one that parses to the same keys, and messages never quote a key.
enum KeyFileTarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    let text = String(decoding: input, as: UTF8.self)
    do throws(KeyFileError) {
      let file = try KeyFile(parsing: text)
      try again(file)
    } catch {
      try Violation.unless(!error.problems.isEmpty, "refused without a problem")
      for problem in error.problems {
        try Violation.unless(problem.line >= 1 && problem.column >= 1, "a problem that stands nowhere")
        try Violation.unless(!problem.description.contains("\n"), "a problem of several lines")
        for word in text.split(whereSeparator: { " \t\n\r".contains($0) }) where word.utf8.count >= 40 {
          try Violation.unless(!problem.message.contains(word), "a problem that quotes a key")
        }
      }
    }
  }

  private static func again(_ file: KeyFile) throws(KeyFileError) {
    let second = try KeyFile(parsing: file.render())
    precondition(second.keys.map(\.description) == file.keys.map(\.description))
    precondition(second.render() == file.render() && file.ring != nil)
  }
}
