/// How the value of a setting is written, and its bounds.
public indirect enum SettingForm: Sendable {
  /// `true` or `false`.
  case flag
  /// One of these words.
  case choice([String])
  /// A list of these words, each at most once.
  case choices([String])
  case number(ClosedRange<Int>)
  /// Bytes, with or without a unit.
  case size(ClosedRange<Int>)
  /// Milliseconds, written with a unit.
  case duration(ClosedRange<Int>)
  /// A duration in whole seconds.
  ///
  /// - excess: Why there is no longer one, where an RFC gives the bound.
  case seconds(ClosedRange<Int>, excess: String? = nil)
  /// A day in UTC; the value is the first second after it, since 1970.
  case date
  /// Text on one line.
  ///
  /// - Parameters:
  ///   - values: How the manual describes it.
  ///   - pattern: A regular expression for editors; the reader checks more.
  ///   - longest: Characters at most.
  case text(_ values: String = "text", pattern: String? = nil, longest: Int? = nil)
  /// A path of the server, or a list of them.
  case paths
  /// A list. `orSingle`: one item may also be written without a list.
  case list(SettingForm, orSingle: Bool = false, least: Int = 0)
  /// The mapping with this name.
  case section(String)
  /// This word, or another form.
  case word(String, or: SettingForm)
  /// Any of these forms.
  case any([SettingForm])
  /// A number that has to be this one.
  case constant(Int)
}
