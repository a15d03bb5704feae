/// The record of one step of the demo: its requests, its responses and its result. Each chapter of the story is one
/// step.
public struct DemoStep: Sendable {
  /// One line of the record.
  public struct Line: Sendable, Equatable {
    /// The participant that acts: `app`, `browser`, `gateway`, `legacy` or `thief`.
    public var speaker: String
    /// The action or response of the participant.
    public var text: String
  }

  /// The heading of the step.
  public var title: String
  /// The lines, in order.
  public var lines: [Line] = []
  /// The result of the step. If the step failed, this is `expected:` and the expectation that was not met.
  public var result = ""
  /// True if the step went as expected.
  public var isAsExpected = false

  init(_ title: String) {
    self.title = title
  }

  mutating func say(_ speaker: String, _ text: String) {
    lines.append(Line(speaker: speaker, text: text))
  }

  /// Ends the step.
  ///
  /// - Parameters:
  ///   - isAsExpected: True if the step went as expected.
  ///   - expectation: The expected result in words.
  mutating func finish(isAsExpected: Bool, expectation: String) {
    self.isAsExpected = isAsExpected
    result = isAsExpected ? expectation : "expected: " + expectation
  }
}
