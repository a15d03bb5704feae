public import Time

/// One row of the policy format: the key, form, default and documentation of a setting.
///
/// `Root` is the type with the property that holds the value. The parser of policy files and its suggestions, the JSON
/// Schema, and the tables of the manual are derived from the rows.
public struct Setting<Root>: Sendable {
  /// The key in the policy file.
  public let key: String
  /// The syntax and the bounds of the value.
  public let form: SettingForm
  /// One sentence for the schema and the manual.
  public let summary: String
  /// The default in words; `nil` if the property's own default is to be shown.
  public let defaultText: String?
  /// The end of the message about a missing key, after "add"; `nil` for an optional setting.
  public let adviceIfMissing: String?
  /// The texts of the additional columns that the manual shows for this table; empty if it has none.
  public let notes: [String]
  private let access: Access?

  /// A key path to the property that holds a value.
  public typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

  /// The functions that read and write the property.
  private struct Access: Sendable {
    let get: @Sendable (Root) -> SettingValue?
    let set: @Sendable (inout Root, SettingValue) -> Void
  }

  private init(
    _ key: String, _ form: SettingForm, _ summary: String, default defaultText: String? = nil,
    adviceIfMissing: String? = nil, notes: [String] = [], _ access: Access?
  ) {
    self.key = key
    self.form = form
    self.summary = summary
    self.defaultText = defaultText
    self.adviceIfMissing = adviceIfMissing
    self.notes = notes
    self.access = access
  }

  /// True if the setting is plain: the parser can read its value with the form alone. The value of every other setting
  /// is read by a function in `PolicyFile`, its custom reader.
  public var isPlain: Bool { access != nil }

  /// Returns the value that the setting has in `root`; `nil` if the property that holds the value is `nil`, or if the
  /// setting is not plain (see `isPlain`).
  public func value(in root: Root) -> SettingValue? { access?.get(root) }

  /// The function that stores a value in the property; `nil` if the setting is not plain.
  public var assign: (@Sendable (inout Root, SettingValue) -> Void)? { access?.set }

  /// Returns the row for a type that contains a `Root` in the property at `path`.
  public func nested<Outer>(at path: Setting<Outer>.Path<Root>) -> Setting<Outer> {
    let outer = access.map { access in
      Setting<Outer>.Access(
        get: { access.get($0[keyPath: path]) }, set: { access.set(&$0[keyPath: path], $1) })
    }
    return Setting<Outer>(
      key, form, summary, default: defaultText, adviceIfMissing: adviceIfMissing, notes: notes, outer)
  }
}

// MARK: Rows by the type of the property

extension Setting {
  /// Returns the row of a setting whose value a function in `PolicyFile` reads, because the form alone is not
  /// sufficient.
  public static func customReader(
    _ key: String, _ form: SettingForm, _ summary: String, default defaultText: String? = nil,
    adviceIfMissing: String? = nil
  ) -> Self {
    Self(key, form, summary, default: defaultText, adviceIfMissing: adviceIfMissing, nil)
  }

  /// Returns the row of a setting with the values `true` and `false`.
  public static func flag(_ key: String, _ path: Path<Bool>, _ summary: String) -> Self {
    Self(
      key, .flag, summary,
      Access(
        get: { .flag($0[keyPath: path]) },
        set: { root, value in if case .flag(let flag) = value { root[keyPath: path] = flag } }))
  }

  /// Returns the row of a setting with one of two words, for a property that is true or false.
  public static func choice(
    _ key: String, _ path: Path<Bool>, false no: String, true yes: String,
    _ summary: String
  ) -> Self {
    Self(
      key, .choice([no, yes]), summary,
      Access(
        get: { .text($0[keyPath: path] ? yes : no) },
        set: { root, value in if case .text(let word) = value { root[keyPath: path] = word == yes } }))
  }

  /// Returns the row of a setting whose values are the raw values of an enum.
  public static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
    _ key: String, _ path: Path<Value>, _ summary: String, default defaultText: String? = nil,
    adviceIfMissing: String? = nil
  ) -> Self {
    Self(
      key, .choice(Value.allCases.map(\.rawValue)), summary, default: defaultText, adviceIfMissing: adviceIfMissing,
      Access(
        get: { .text($0[keyPath: path].rawValue) },
        set: { root, value in
          if case .text(let word) = value, let choice = Value(rawValue: word) { root[keyPath: path] = choice }
        }))
  }

  /// Returns the row of an optional setting whose values are the raw values of an enum.
  public static func choice<Value: RawRepresentable<String> & CaseIterable & Sendable>(
    _ key: String, _ path: Path<Value?>, _ summary: String, default defaultText: String
  ) -> Self {
    Self(
      key, .choice(Value.allCases.map(\.rawValue)), summary, default: defaultText,
      Access(
        get: { $0[keyPath: path].map { .text($0.rawValue) } },
        set: { root, value in
          if case .text(let word) = value, let choice = Value(rawValue: word) { root[keyPath: path] = choice }
        }))
  }

  /// Returns the row of a setting that is a list of raw values of an enum.
  public static func choices<Value: RawRepresentable<String> & CaseIterable & Hashable & Sendable>(
    _ key: String, _ path: Path<Set<Value>>, _ summary: String
  ) -> Self {
    let all = Array(Value.allCases)
    return Self(
      key, .choices(all.map(\.rawValue)), summary,
      Access(
        get: { root in .texts(all.filter(root[keyPath: path].contains).map(\.rawValue)) },
        set: { root, value in
          if case .texts(let words) = value { root[keyPath: path] = Set(words.compactMap(Value.init(rawValue:))) }
        }))
  }

  /// Returns the row of a number or size. If the form permits a word in place of the number, the word means 0.
  public static func number(
    _ key: String, _ path: Path<Int>, _ form: SettingForm, _ summary: String,
    notes: [String] = []
  ) -> Self {
    Self(
      key, form, summary, notes: notes,
      Access(
        get: { .number($0[keyPath: path]) },
        set: { root, value in root[keyPath: path] = value.number ?? 0 }))
  }

  /// Returns the row of an optional number or size. If the form permits a word in place of the number, the word means
  /// `nil`.
  public static func number(
    _ key: String, _ path: Path<Int?>, _ form: SettingForm, _ summary: String,
    default defaultText: String, notes: [String] = []
  ) -> Self {
    Self(
      key, form, summary, default: defaultText, notes: notes,
      Access(
        get: { $0[keyPath: path].map { .number($0) } },
        set: { root, value in root[keyPath: path] = value.number }))
  }

  /// Returns the row of a time with a unit.
  public static func duration(
    _ key: String, _ path: Path<Milliseconds>, _ range: ClosedRange<Milliseconds>, _ summary: String,
    notes: [String] = []
  ) -> Self {
    Self(
      key, .duration(range), summary, notes: notes,
      Access(
        get: { .duration($0[keyPath: path]) },
        set: { root, value in if case .duration(let time) = value { root[keyPath: path] = time } }))
  }

  /// Returns the row of an optional time with a unit.
  public static func duration(
    _ key: String, _ path: Path<Milliseconds?>, _ range: ClosedRange<Milliseconds>, _ summary: String,
    default defaultText: String
  ) -> Self {
    Self(
      key, .duration(range), summary, default: defaultText,
      Access(
        get: { $0[keyPath: path].map { .duration($0) } },
        set: { root, value in if case .duration(let time) = value { root[keyPath: path] = time } }))
  }

  /// Returns the row of a time with a unit that must be a whole number of seconds.
  ///
  /// - Parameter advice: The text about a time above the upper bound, as in `SettingForm.seconds`.
  public static func seconds(
    _ key: String, _ path: Path<Seconds>, _ range: ClosedRange<Seconds>, adviceIfTooLong advice: String? = nil,
    _ summary: String
  ) -> Self {
    Self(
      key, .seconds(range, adviceIfTooLong: advice), summary,
      Access(
        get: { .seconds($0[keyPath: path]) },
        set: { root, value in if case .seconds(let time) = value { root[keyPath: path] = time } }))
  }

  /// Returns the row of an optional time that must be a whole number of seconds.
  ///
  /// - Parameter advice: The text about a time above the upper bound, as in `SettingForm.seconds`.
  public static func seconds(
    _ key: String, _ path: Path<Seconds?>, _ range: ClosedRange<Seconds>, adviceIfTooLong advice: String? = nil,
    _ summary: String, default defaultText: String
  ) -> Self {
    Self(
      key, .seconds(range, adviceIfTooLong: advice), summary, default: defaultText,
      Access(
        get: { $0[keyPath: path].map { .seconds($0) } },
        set: { root, value in if case .seconds(let time) = value { root[keyPath: path] = time } }))
  }

  /// Returns the row of an optional day in UTC, or a word in its place. The word means the time 0: a time that is over.
  public static func date(
    _ key: String, _ path: Path<UnixTime?>, orWord word: String, _ summary: String, default defaultText: String
  ) -> Self {
    Self(
      key, .word(word, or: .date), summary, default: defaultText,
      Access(
        get: { $0[keyPath: path].map { $0 == 0 ? .word : .date($0) } },
        set: { root, value in
          switch value {
          case .date(let end): root[keyPath: path] = end
          default: root[keyPath: path] = 0
          }
        }))
  }

  /// Returns the row of an optional day in UTC.
  public static func date(
    _ key: String, _ path: Path<UnixTime?>, _ summary: String, default defaultText: String
  ) -> Self {
    Self(
      key, .date, summary, default: defaultText,
      Access(
        get: { $0[keyPath: path].map { .date($0) } },
        set: { root, value in if case .date(let end) = value { root[keyPath: path] = end } }))
  }

  /// Returns the row of an optional text on one line.
  public static func text(
    _ key: String, _ path: Path<String?>, _ summary: String, default defaultText: String
  ) -> Self {
    Self(
      key, .text(), summary, default: defaultText,
      Access(
        get: { $0[keyPath: path].map { .text($0) } },
        set: { root, value in if case .text(let text) = value { root[keyPath: path] = text } }))
  }

  /// Returns the row of a path, or a list of paths, of the server.
  public static func paths(
    _ key: String, _ path: Path<[String]>, _ summary: String,
    default defaultText: String? = nil,
    adviceIfMissing: String? = nil
  ) -> Self {
    Self(
      key, .paths, summary, default: defaultText, adviceIfMissing: adviceIfMissing,
      Access(
        get: { .texts($0[keyPath: path]) },
        set: { root, value in if case .texts(let paths) = value { root[keyPath: path] = paths } }))
  }
}

/// The parsed value of a plain setting.
public enum SettingValue: Sendable, Equatable {
  /// The value of a `SettingForm.flag`.
  case flag(Bool)
  /// A number, or the bytes of a size.
  case number(Int)
  /// The time of a `SettingForm.duration`.
  case duration(Milliseconds)
  /// The time of a `SettingForm.seconds`.
  case seconds(Seconds)
  /// The end of the day of a `SettingForm.date`.
  case date(UnixTime)
  /// A text, or the word of a choice.
  case text(String)
  /// A list of paths, or the words of a list of choices.
  case texts([String])
  /// The word of a `SettingForm.word`, such as `off` in place of a number.
  case word

  /// The number of `SettingValue.number`; `nil` for other values.
  var number: Int? {
    if case .number(let number) = self { number } else { nil }
  }
}
