import FoundationEssentials

/// Reads text: key files, files of the kernel under `/proc` and `/sys`, and standard input.
enum InputFile {
  /// The reason why a file cannot be read. The text is the end of a sentence that begins with the name of the file.
  struct Problem: Error {
    let text: String
  }

  /// The maximum length of a file, in bytes: much more than a key file needs.
  private static let limit = 1024 * 1024

  static func read(_ path: String) throws(Problem) -> String {
    let data: Data
    do {
      data = try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw problem(error, path)
    }
    guard data.count <= limit else { throw Problem(text: "is longer than \(limit) bytes") }
    guard let text = String(validating: data, as: UTF8.self) else { throw Problem(text: "is not UTF-8 text") }
    return text
  }

  /// Reads standard input to its end, or to the end of the line with which the text exceeds the maximum length.
  static func readStandardInput() -> String {
    var text = ""
    while text.utf8.count <= limit, let line = readLine(strippingNewline: false) { text += line }
    return text
  }

  /// Returns the content of a file of any length. The file is mapped if possible, so that it takes no memory.
  static func map(_ path: String) throws(Problem) -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
    } catch {
      throw problem(error, path)
    }
  }

  private static func problem(_ error: any Error, _ path: String) -> Problem {
    var isDirectory = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory {
      return Problem(text: "is a directory")
    }
    switch (error as? CocoaError)?.code {
    case CocoaError.fileReadNoSuchFile?, CocoaError.fileNoSuchFile?: return Problem(text: "does not exist")
    case CocoaError.fileReadNoPermission?: return Problem(text: "may not be read by this user")
    default: return Problem(text: "cannot be read")
    }
  }
}
