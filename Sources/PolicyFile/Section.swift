import Policy
import YAML

/// The parser of a mapping of the format: the rows of its table, and a function for each row that is not plain.
struct Section<Draft: SectionDraft>: Sendable {
  typealias Read = @Sendable (PolicyReader, Field, inout Draft) -> Void

  let name: String
  let settings: [Setting<Draft.Settings>]
  /// One for each setting; `nil` for a plain setting.
  private let readers: [Read?]
  let keys: [String]
  private let forms: [SettingForm]
  private let assignments: [(@Sendable (inout Draft.Settings, SettingValue) -> Void)?]
  private let positions: [String: Int]
  /// The required settings, each with the example that a message shows after "add".
  let requirements: [(key: String, example: String)]

  /// Creates a parser.
  ///
  /// - Parameter readers: A function for each setting that is not plain. The program stops if one is missing or has no
  ///   setting, because then a setting would be declared and not read, or read and not declared.
  init(_ table: SettingTable<Draft.Settings>, _ readers: [String: Read] = [:]) {
    name = table.name
    settings = table.settings
    precondition(
      Set(readers.keys) == Set(settings.lazy.filter { !$0.isPlain }.map(\.key)),
      "not all settings of `\(table.name)` are read")
    self.readers = settings.map { readers[$0.key] }
    keys = settings.map(\.key)
    forms = settings.map(\.form)
    assignments = settings.map(\.assign)
    requirements = settings.compactMap { setting in setting.requirement.map { (setting.key, $0) } }
    positions = Dictionary(uniqueKeysWithValues: settings.enumerated().map { ($1.key, $0) })
  }

  func position(of key: String) -> Int? { positions[key] }

  /// Reads one setting.
  ///
  /// - Returns: False if a plain value is invalid and reported. The property then keeps its value.
  func read(_ position: Int, _ field: Field, by reader: PolicyReader, into draft: inout Draft) -> Bool {
    if let read = readers[position] {
      read(reader, field, &draft)
      return true
    }
    guard let value = reader.value(field, forms[position]) else { return false }
    assignments[position]?(&draft.settings, value)
    return true
  }
}

/// A mapping while it is read: its settings, and values that must be compared or completed before the settings are
/// used.
protocol SectionDraft {
  associatedtype Settings

  var settings: Settings { get set }
}

/// A mapping that consists only of its settings.
extension SectionDraft where Settings == Self {
  var settings: Self {
    get { self }
    set { self = newValue }
  }
}

/// The settings that one mapping of a file has, in the order of the file, without unknown keys.
struct Fields {
  private(set) var all: [Field] = []
  /// The keys whose values are invalid and reported.
  private var invalid: [String] = []

  /// The keys that the mapping may have.
  private let known: [String]

  init(_ known: [String] = [], capacity: Int = 0) {
    self.known = known
    all.reserveCapacity(capacity)
  }

  mutating func append(_ field: Field, isValid: Bool) {
    all.append(field)
    if !isValid { invalid.append(field.name) }
  }

  /// The setting with this key, even if its value is invalid.
  subscript(key: String) -> Field? {
    assert(known.isEmpty || known.contains(key), "the mapping has no setting `\(key)`")
    for position in all.indices where all[position].name == key { return all[position] }
    return nil
  }

  /// Returns the setting with this key if its value is valid.
  func valid(_ key: String) -> Field? { invalid.contains(key) ? nil : self[key] }
}
