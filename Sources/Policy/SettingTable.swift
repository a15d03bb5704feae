/// The settings of one mapping of the policy format.
public struct SettingTable<Root>: Sendable {
  /// The name of the mapping, in messages and as the name of its definition in the schema.
  public let name: String
  /// One sentence about the mapping, for the schema.
  public let summary: String
  /// The rows, in the order in which the manual shows them.
  public let settings: [Setting<Root>]
  /// Groups of keys. The mapping must have all keys of at least one group, and may have keys of others. Empty if there
  /// is no such requirement.
  public let alternativeRequiredKeys: [[String]]
  /// True if the mapping must have exactly one of its keys.
  public let requiresExactlyOneKey: Bool
  /// Returns a `Root` in which every plain setting (``Setting/isPlain``) has its default.
  public let defaults: @Sendable () -> Root

  /// Creates a table. Only the JSON Schema uses `alternativeRequiredKeys` and `requiresExactlyOneKey`. When a policy is
  /// read, functions in `PolicyFile` make these checks.
  public init(
    _ name: String, _ summary: String, alternativeRequiredKeys: [[String]] = [], requiresExactlyOneKey: Bool = false,
    _ settings: [Setting<Root>],
    defaults: @escaping @Sendable () -> Root
  ) {
    self.name = name
    self.summary = summary
    self.settings = settings
    self.alternativeRequiredKeys = alternativeRequiredKeys
    self.requiresExactlyOneKey = requiresExactlyOneKey
    self.defaults = defaults
  }
}
