/// The settings of one mapping of the policy format.
public struct SettingTable<Root>: Sendable {
  /// The name of the mapping in messages, and of its definition in the schema.
  public let name: String
  public let summary: String
  /// In the order of the manual.
  public let settings: [Setting<Root>]
  /// Groups of keys of which the file needs at least one.
  public let alternatives: [[String]]
  /// True if the mapping may have only one of its settings.
  public let isExclusive: Bool
  /// The value that has the default of every plain setting.
  public let defaults: @Sendable () -> Root

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
