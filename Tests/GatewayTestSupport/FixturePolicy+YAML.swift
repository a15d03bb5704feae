import FoundationEssentials
public import Policy
import PolicyFile

extension FixturePolicy {
  /// The policy text has errors; `description` lists its diagnostics.
  public struct Unreadable: Error, CustomStringConvertible {
    /// The diagnostics of the policy file, one per line.
    public let description: String
  }

  /// Reads a policy as `serve` does. The fixture always replaces the listeners and the upstream's address; an `http`
  /// origin gets the listener's port.
  ///
  /// - Parameters:
  ///   - text: The policy, in which `KEYS` is replaced by the path of a key file.
  ///   - environment: The variables for `{ env: NAME }`.
  public static func yaml(_ text: String, environment: [String: String] = [:]) throws -> Policy {
    let path = FileManager.default.temporaryDirectory.path + "/proofgate-" + UUID().uuidString + ".yaml"
    let keys = path + ".keys"
    try Data(text.replacing("KEYS", with: keys).utf8).write(to: URL(fileURLWithPath: path))
    try Data("k1\n".utf8).write(to: URL(fileURLWithPath: keys))
    defer {
      for file in [path, keys] { try? FileManager.default.removeItem(atPath: file) }
    }
    let outcome = PolicyFile.load(path: path, environment: environment)
    guard let policy = outcome.policy else {
      throw Unreadable(description: outcome.diagnostics.map(\.description).joined(separator: "\n"))
    }
    return policy
  }
}
