/// Where a policy's text and its secrets come from.
public struct PolicySources: Sendable {
  /// The path that means standard input.
  public static let standardInputPath = "-"

  /// The variables that `{ env: NAME }` reads.
  public let environment: [String: String]
  /// The policy for the path `-`; `nil` where standard input is not read.
  public let standardInput: [UInt8]?
  /// False to check a policy on a machine that does not have its secrets, keys and certificates: they are then not read,
  /// and a policy that was read in this way cannot be served.
  public let readsSecrets: Bool

  public init(environment: [String: String], standardInput: [UInt8]? = nil, readsSecrets: Bool = true) {
    self.environment = environment
    self.standardInput = standardInput
    self.readsSecrets = readsSecrets
  }
}
