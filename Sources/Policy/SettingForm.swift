public import Time

/// The syntax and the bounds of the value of a setting.
public indirect enum SettingForm: Sendable {
  /// `true` or `false`.
  case flag
  /// One of these words.
  case choice([String])
  /// A list of these words, each at most once.
  case choices([String])
  /// A whole number within the bounds.
  case number(ClosedRange<Int>)
  /// A number of bytes, with or without a unit. The bounds are in bytes.
  case size(ClosedRange<Int>)
  /// A time with a unit.
  case duration(ClosedRange<Milliseconds>)
  /// A time with a unit, as in `duration`; the time must be a whole number of seconds.
  ///
  /// - Parameter adviceIfTooLong: The text after "`KEY` cannot be `VALUE`; " in the error message for a time above the
  ///   upper bound; `nil` for the usual text, which states the bounds.
  case seconds(ClosedRange<Seconds>, adviceIfTooLong: String? = nil)
  /// A day in UTC. The value is the end of the day.
  case date
  /// A text on one line.
  ///
  /// - Parameters:
  ///   - values: The description of the values in the manual.
  ///   - pattern: A regular expression for the JSON Schema. The parser does not use this pattern, and checks the text
  ///     more exactly.
  ///   - maximumLength: The maximum number of characters.
  case text(_ values: String = "text", pattern: String? = nil, maximumLength: Int? = nil)
  /// A path of the server, or a list of them.
  case paths
  /// A list with at least `minimumCount` items of this form. With `allowsSingleValue`, a list of one item may also be
  /// written as the item alone.
  case list(SettingForm, allowsSingleValue: Bool = false, minimumCount: Int = 0)
  /// A YAML mapping. Its keys are the settings of the `SettingTable` with this name.
  case section(String)
  /// A YAML mapping whose keys the operator chooses. Each value has the form.
  ///
  /// - Parameters:
  ///   - keys: The description of the keys in the manual.
  ///   - pattern: A regular expression for the keys, for the JSON Schema.
  case mapping(keys: String, pattern: String, of: SettingForm)
  /// This word, or a value of the other form.
  case word(String, or: SettingForm)
  /// A value of any of these forms.
  case any([SettingForm])
  /// This number and no other.
  case constant(Int)
}
