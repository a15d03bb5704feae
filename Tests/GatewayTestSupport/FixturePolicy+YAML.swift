import FoundationEssentials
public import Policy
import PolicyFile

extension FixturePolicy {
  /// What is wrong with a policy text.
  public struct Unreadable: Error, CustomStringConvertible {
    public let description: String
  }

  /// Reads a policy as `serve` does. Listeners and the upstream's address are the fixture's in any case; an `http`
  /// origin gets the listener's port.
  ///
  /// - Parameters:
  ///   - text: The policy, in which `KEYS` is the path of a key file.
  ///   - environment: where `{ env: NAME }` looks.
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
