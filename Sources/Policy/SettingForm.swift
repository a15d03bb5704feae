/// The syntax of the value of a setting, and its bounds.
public indirect enum SettingForm: Sendable {
  /// `true` or `false`.
  case flag
  /// One of these words.
  case choice([String])
  /// A list of these words, each at most once.
  case choices([String])
  /// A whole number.
  case number(ClosedRange<Int>)
  /// A number of bytes, with or without a unit.
  case size(ClosedRange<Int>)
  /// A number with a unit; the bounds are in milliseconds.
  case duration(ClosedRange<Int>)
  /// A duration that is a whole number of seconds; the bounds are in seconds.
  ///
  /// - excess: The end of the message about a longer duration, if an RFC gives the upper bound.
  case seconds(ClosedRange<Int>, excess: String? = nil)
  /// A day in UTC. The value is the end of the day, in seconds since 1970.
  case date
  /// Text on one line.
  ///
  /// - Parameters:
  ///   - values: The description of the values in the manual.
  ///   - pattern: A regular expression for editors; the reader checks more than it.
  ///   - longest: The most characters.
  case text(_ values: String = "text", pattern: String? = nil, longest: Int? = nil)
  /// A path of the server, or a list of them.
  case paths
  /// A list with at least `least` items. `orSingle`: one item may also be written without a list.
  case list(SettingForm, orSingle: Bool = false, least: Int = 0)
  /// The mapping with this name.
  case section(String)
  /// This word, or another form.
  case word(String, or: SettingForm)
  /// Any of these forms.
  case any([SettingForm])
  /// This number and no other.
  case constant(Int)
}
