/// The settings of one mapping of the policy format.
public struct SettingTable<Root>: Sendable {
  /// The name of the mapping in messages, and of its definition in the schema.
  public let name: String
  /// One sentence about the mapping, for the schema.
  public let summary: String
  /// The rows, in the order of the manual.
  public let settings: [Setting<Root>]
  /// Groups of keys; the mapping needs at least one of the groups, with all keys of it.
  public let alternatives: [[String]]
  /// True if the mapping must have exactly one of its settings.
  public let isExclusive: Bool
  /// The value that has the default of every plain setting.
  public let defaults: @Sendable () -> Root

  /// Creates a table. Only the schema uses `alternatives` and `isExclusive`; the reader checks them with code.
  public init(
    _ name: String, _ summary: String, alternatives: [[String]] = [], isExclusive: Bool = false,
    _ settings: [Setting<Root>],
    defaults: @escaping @Sendable () -> Root
  ) {
    self.name = name
    self.summary = summary
    self.settings = settings
    self.alternatives = alternatives
    self.isExclusive = isExclusive
    self.defaults = defaults
  }
}
