import Policy
import YAML

/// A mapping of the format as the reader reads it: the rows of its table, and a function for each row that is not
/// plain.
struct Section<Draft: SectionDraft>: Sendable {
  typealias Read = @Sendable (PolicyReader, Field, inout Draft) -> Void

  let name: String
  let settings: [Setting<Draft.Settings>]
  /// One for each of the settings; `nil` for a plain one.
  private let readers: [Read?]
  let keys: [String]
  private let forms: [SettingForm]
  private let assignments: [(@Sendable (inout Draft.Settings, SettingValue) -> Void)?]
  private let positions: [String: Int]
  /// The required settings, each with what to add.
  let requirements: [(key: String, example: String)]

  /// - Parameter readers: A function for each setting that is not plain. A function that is missing or left over would
  ///   be a setting that is declared and not read, or the other way round, so the first reading stops the program.
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
  /// - Returns: False if a plain value was reported and the property keeps the value that it has.
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

/// A mapping while it is read: its settings, and what has to be compared or completed before they are used.
protocol SectionDraft {
  associatedtype Settings

  var settings: Settings { get set }
}

/// A mapping that is nothing but its settings.
extension SectionDraft where Settings == Self {
  var settings: Self {
    get { self }
    set { self = newValue }
  }
}

/// The settings that one mapping of a file has, in the order of the file. Unknown keys are not among them.
struct Fields {
  private(set) var all: [Field] = []
  /// The keys whose values were reported and not taken.
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

  /// The setting with this key, whatever its value.
  subscript(key: String) -> Field? {
    assert(known.isEmpty || known.contains(key), "the mapping has no setting `\(key)`")
    for position in all.indices where all[position].name == key { return all[position] }
    return nil
  }

  /// The setting with this key if its value was taken.
  func valid(_ key: String) -> Field? { invalid.contains(key) ? nil : self[key] }
}
