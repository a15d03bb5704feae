import Policy
import YAML

/// The parser of one mapping of the format: the rows of its table, and a function for each setting that is not plain.
/// The value of a plain setting can be read with its form alone.
struct Section<Draft: SectionDraft>: Sendable {
  /// Reads the value of one setting with the methods of the policy reader (`$0`). The field (`$1`) has the key and the
  /// value in the file; the result is stored in the draft (`$2`).
  typealias Read = @Sendable (PolicyReader, Field, inout Draft) -> Void

  let name: String
  let settings: [Setting<Draft.Settings>]
  /// The functions that read the values, in the order of `settings`; `nil` for a plain setting.
  private let customReaders: [Read?]
  let keys: [String]
  private let forms: [SettingForm]
  /// The functions that store a parsed value in its property, in the order of `settings`; `nil` for a setting that is
  /// not plain.
  private let assignments: [(@Sendable (inout Draft.Settings, SettingValue) -> Void)?]
  private let positions: [String: Int]
  /// The required settings, each with the text that a message about its absence shows after "add".
  let requiredSettings: [(key: String, advice: String)]

  /// Creates a parser.
  ///
  /// - Parameter customReaders: A function for each setting that is not plain, by the key of the setting. The program
  ///   stops if such a setting has no function, because the setting would be declared but not read. It also stops if
  ///   `customReaders` contains any other key.
  init(_ table: SettingTable<Draft.Settings>, _ customReaders: [String: Read] = [:]) {
    name = table.name
    settings = table.settings
    precondition(
      Set(customReaders.keys) == Set(settings.lazy.filter { !$0.isPlain }.map(\.key)),
      "not all settings of `\(table.name)` are read")
    self.customReaders = settings.map { customReaders[$0.key] }
    keys = settings.map(\.key)
    forms = settings.map(\.form)
    assignments = settings.map(\.assign)
    requiredSettings = settings.compactMap { setting in setting.adviceIfMissing.map { (setting.key, $0) } }
    positions = Dictionary(uniqueKeysWithValues: settings.enumerated().map { ($1.key, $0) })
  }

  func position(of key: String) -> Int? { positions[key] }

  /// Reads one setting.
  ///
  /// - Parameter position: The index of the setting in the table.
  /// - Returns: False if the setting is plain and its value is invalid. The method has then reported the value, and the
  ///   draft keeps its previous value.
  func read(_ position: Int, _ field: Field, by reader: PolicyReader, into draft: inout Draft) -> Bool {
    if let read = customReaders[position] {
      read(reader, field, &draft)
      return true
    }
    guard let value = reader.value(field, forms[position]) else { return false }
    assignments[position]?(&draft.settings, value)
    return true
  }
}

/// The content of a mapping while it is read: its settings, and values that must be compared or completed before they
/// become settings.
protocol SectionDraft {
  associatedtype Settings

  var settings: Settings { get set }
}

/// A mapping whose draft is the settings themselves.
extension SectionDraft where Settings == Self {
  var settings: Self {
    get { self }
    set { self = newValue }
  }
}

/// The settings that one mapping in a file has, in the order of the file. Unknown keys and keys without a value
/// are left out.
struct Fields {
  private(set) var all: [Field] = []
  /// The keys of the plain settings with an invalid value. Each of these values has been reported.
  private var invalid: [String] = []

  /// The keys that the mapping may have; empty if no mapping was read.
  private let known: [String]

  init(_ known: [String] = [], capacity: Int = 0) {
    self.known = known
    all.reserveCapacity(capacity)
  }

  mutating func append(_ field: Field, isValid: Bool) {
    all.append(field)
    if !isValid { invalid.append(field.name) }
  }

  /// Returns true if the mapping has one of these plain settings with an invalid value.
  func hasInvalid(_ keys: Set<String>) -> Bool { invalid.contains(where: keys.contains) }

  /// The setting with this key, even if its value is invalid.
  subscript(key: String) -> Field? {
    assert(known.isEmpty || known.contains(key), "the mapping has no setting `\(key)`")
    for position in all.indices where all[position].name == key { return all[position] }
    return nil
  }

  /// Returns the setting with this key; `nil` if it is absent, or if it is plain and has an invalid value. A setting
  /// that is not plain is returned even if its value is invalid.
  func valid(_ key: String) -> Field? { invalid.contains(key) ? nil : self[key] }
}
