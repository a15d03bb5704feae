import FoundationEssentials

/// The documents of the project. Tests execute their examples.
public enum Manual {
  /// Returns the text of a file by its path in the project.
  public static func text(_ path: String) throws -> String {
    let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return String(decoding: try Data(contentsOf: project.appendingPathComponent(path)), as: UTF8.self)
  }
}
