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
  /// - Parameter environment: where `{ env: NAME }` looks.
  public static func yaml(_ text: String, environment: [String: String] = [:]) throws -> Policy {
    let path = FileManager.default.temporaryDirectory.path + "/proofgate-" + UUID().uuidString + ".yaml"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let outcome = PolicyFile.load(path: path, environment: environment)
    guard let policy = outcome.policy else {
      throw Unreadable(description: outcome.diagnostics.map(\.description).joined(separator: "\n"))
    }
    return policy
  }
}
