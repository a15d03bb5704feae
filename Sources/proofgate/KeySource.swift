import Sealing

/// Reads key files.
enum KeySource {
  struct Failure: Error {
    /// `file:line:column: error: ...`, or the file alone where it cannot be read.
    let lines: [String]
  }

  static func file(_ path: String) throws(Failure) -> KeyFile {
    let text: String
    do throws(InputFile.Problem) {
      text = try InputFile.read(path)
    } catch {
      let hint = "`proofgate keys generate --file \(path)` makes one"
      throw Failure(lines: ["\(path): error: the key file \(error.text); \(hint)"])
    }
    return try parse(text, from: path)
  }

  static func parse(_ text: String, from path: String) throws(Failure) -> KeyFile {
    do throws(KeyFileError) {
      return try KeyFile(parsing: text)
    } catch {
      throw Failure(lines: error.problems.map { "\(path):\($0.line):\($0.column): error: \($0.message)" })
    }
  }

  static func ring(_ path: String) throws(Failure) -> KeyRing {
    guard let ring = try file(path).ring else { throw Failure(lines: ["\(path): error: no key seals"]) }
    return ring
  }
}
