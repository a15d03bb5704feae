import FoundationEssentials
import PolicyFile

/// A folder with the files of one test.
struct PolicyFolder {
  let path: String

  /// Writes the files. Other users can read those in `open` only; secrets are usually not among them.
  init(_ files: [String: String], open: Set<String> = []) throws {
    path = FileManager.default.temporaryDirectory.path + "/proofgate-" + UUID().uuidString
    for (name, text) in files {
      let file = path + "/" + name
      let folder = file[..<(file.lastIndex(of: "/") ?? file.endIndex)]
      try FileManager.default.createDirectory(atPath: String(folder), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      try FileManager.default.setAttributes(
        [.posixPermissions: UInt(open.contains(name) ? 0o644 : 0o600)], ofItemAtPath: file)
    }
  }

  func load(_ name: String = "policy.yaml", environment: [String: String] = [:]) -> PolicyFile.Outcome {
    PolicyFile.load(path: path + "/" + name, environment: environment)
  }

  /// The findings, one per line, with file names relative to the folder.
  func lines(_ findings: [Diagnostic]) -> String {
    findings.map(\.description).joined(separator: "\n").split(separator: path + "/").joined()
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Loads one policy text and removes its folder again.
  static func load(
    _ text: String, files: [String: String] = [:], environment: [String: String] = [:]
  ) throws -> PolicyFile.Outcome {
    let folder = try PolicyFolder(files.merging(["policy.yaml": text, "keys": "k1\n"]) { own, _ in own })
    defer { folder.remove() }
    return folder.load(environment: environment)
  }
}
