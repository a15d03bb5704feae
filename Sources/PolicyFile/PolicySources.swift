/// The sources of the text of a policy and of its secrets.
public struct PolicySources: Sendable {
  /// The path that means standard input.
  public static let standardInputPath = "-"

  /// The variables that `{ env: NAME }` reads.
  public let environment: [String: String]
  /// The text of the policy for the path `-`; `nil` if standard input is not read.
  public let standardInput: [UInt8]?
  /// True if the secrets, keys and certificates of the policy are read. False is for a check on a machine that does not
  /// have these files; the gateway cannot serve the resulting policy.
  public let readsSecrets: Bool

  /// Creates sources. By default, secrets are read and standard input is not read.
  public init(environment: [String: String], standardInput: [UInt8]? = nil, readsSecrets: Bool = true) {
    self.environment = environment
    self.standardInput = standardInput
    self.readsSecrets = readsSecrets
  }
}
