import ArgumentParser
import FoundationEssentials

/// Reads text: key files, files of the kernel under `/proc` and `/sys`, and standard input.
enum InputFile {
  /// The reason why a file cannot be used.
  struct Problem: Error {
    /// The end of a sentence that begins with the name of the file.
    let reason: String
    /// The remedy, as an instruction to the operator.
    let advice: String
    /// `systemFailure` if the file cannot be read, `policyErrors` if it has another format.
    var code = ExitCode.systemFailure

    static let missing = Problem(reason: "does not exist", advice: "check the path")
    static let directory = Problem(reason: "is a directory", advice: "name a file in it")
    static let notPermitted = Problem(
      reason: "may not be read by this user", advice: "change its owner or mode, or run as another user")
    static let notText = Problem(reason: "is not UTF-8 text", advice: "name a text file", code: .policyErrors)
    static let tooLong = Problem(
      reason: "is longer than \(limit) bytes", advice: "name another file", code: .policyErrors)

    /// The reason and the advice.
    var text: String { "\(reason); \(advice)" }
    var isMissing: Bool { reason == Problem.missing.reason }
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
    guard data.count <= limit else { throw .tooLong }
    guard let text = String(validating: data, as: UTF8.self) else { throw .notText }
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
      return .directory
    }
    return switch (error as? CocoaError)?.code {
    case CocoaError.fileReadNoSuchFile?, CocoaError.fileNoSuchFile?: .missing
    case CocoaError.fileReadNoPermission?: .notPermitted
    default: Problem(reason: "cannot be read", advice: "check the file system that it is on")
    }
  }
}
