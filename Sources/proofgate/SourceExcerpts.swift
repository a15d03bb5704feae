import ByteText
import FoundationEssentials
import PolicyFile

/// Finds the lines of policy files that findings are about, for people. A line never shows a secret.
final class SourceExcerpts {
  /// The part of a line around a finding.
  struct Excerpt: Equatable {
    /// The line, cut around the finding if it is long. It has no control or invisible characters.
    let text: String
    /// The number of characters in front of the mark.
    let indentation: Int
  }

  /// The greatest length of an excerpt, in characters: what a wide terminal shows without a break.
  private static let maximumLength = 120
  /// Longer files have no excerpts, because they would be read again as a whole.
  private static let maximumFileSize = 4 << 20
  private static let maximumFiles = 16

  private let standardInput: [UInt8]?
  private var files: [String: [Substring]] = [:]
  /// By the places of lines, the column at which an excerpt must end, because a secret could follow.
  private var ends: [Place: Int] = [:]

  private struct Place: Hashable {
    let file: String
    let line: Int
  }

  /// Creates the reader of the lines.
  ///
  /// - Parameters:
  ///   - findings: All findings that are reported: some of them show where a line has a secret.
  ///   - standardInput: The content of the file `-`.
  init(_ findings: [Diagnostic], standardInput: [UInt8]? = nil) {
    self.standardInput = standardInput
    for finding in findings {
      let end: Int
      switch finding.id {
      // The value is a secret.
      case .inlineSecret: end = finding.column
      // The key may be a misspelt `secret`.
      case .unknownKey: end = self.end(ofKeyAt: finding)
      default: continue
      }
      let place = Place(file: finding.file, line: finding.line)
      ends[place] = min(end, ends[place] ?? Int.max)
    }
  }

  /// Returns the line of a finding; `nil` if it cannot be read or could show a secret.
  func excerpt(for finding: Diagnostic) -> Excerpt? {
    // A key file contains nothing but secrets. A file that cannot be read has no lines.
    guard finding.id != .invalidKeyFile, finding.id != .unreadableFile || finding.column > 1,
      let line = line(of: finding)
    else { return nil }
    var characters = Array(line.unicodeScalars)
    if let end = ends[Place(file: finding.file, line: finding.line)], end <= characters.count {
      guard finding.column <= end else { return nil }
      characters = Array(characters.prefix(end - 1)) + Array("...".unicodeScalars)
    } else if finding.id == .invalidYAML, mayHaveSecret(line) {
      return nil
    }
    guard (1...characters.count + 1).contains(finding.column), !characters.isEmpty else { return nil }
    let start = max(0, finding.column - SourceExcerpts.maximumLength / 2)
    let shown = characters.dropFirst(start).prefix(SourceExcerpts.maximumLength)
    var text = ""
    for character in shown { text.unicodeScalars.append(character == "\t" ? " " : character.visible) }
    return Excerpt(text: text, indentation: finding.column - 1 - start)
  }

  private func mayHaveSecret(_ line: Substring) -> Bool {
    let line = line.lowercased()
    return ["secret", "passw", "token"].contains(where: line.contains)
  }

  /// Returns the column behind the key at a finding and its colon.
  private func end(ofKeyAt finding: Diagnostic) -> Int {
    guard let line = line(of: finding) else { return finding.column }
    let characters = Array(line.unicodeScalars)
    guard finding.column <= characters.count else { return finding.column }
    let colon = characters[(finding.column - 1)...].firstIndex(of: ":") ?? finding.column
    return colon + 2
  }

  private func line(of finding: Diagnostic) -> Substring? {
    let lines = lines(of: finding.file)
    return lines.indices.contains(finding.line - 1) ? lines[finding.line - 1] : nil
  }

  private func lines(of file: String) -> [Substring] {
    if let known = files[file] { return known }
    guard files.count < SourceExcerpts.maximumFiles else { return [] }
    let content =
      if file == PolicySources.standardInputPath, let standardInput { Data(standardInput) } else {
        (try? Data(contentsOf: URL(fileURLWithPath: file))) ?? Data()
      }
    var lines: [Substring] = []
    if content.count <= SourceExcerpts.maximumFileSize, let text = String(validating: content, as: UTF8.self) {
      lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    }
    files[file] = lines
    return lines
  }
}
