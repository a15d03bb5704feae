/// The record of one chapter of the demo's story: its requests, its responses and its result.
public struct DemoStep: Sendable {
  /// One line of the story.
  public struct Line: Sendable, Equatable {
    /// The participant that acts: `app`, `browser`, `gateway`, `legacy` or `thief`.
    public var speaker: String
    /// The action or response of the participant.
    public var text: String
  }

  /// The heading of the chapter.
  public var title: String
  /// The lines, in order.
  public var lines: [Line] = []
  /// The result of the step. If the step failed, this is the expectation that was not met.
  public var verdict = ""
  /// True if the step went as expected.
  public var isAsExpected = false

  init(_ title: String) {
    self.title = title
  }

  mutating func say(_ speaker: String, _ text: String) {
    lines.append(Line(speaker: speaker, text: text))
  }

  /// Ends the step with its result.
  mutating func conclude(_ isAsExpected: Bool, _ verdict: String) {
    self.isAsExpected = isAsExpected
    self.verdict = isAsExpected ? verdict : "expected: " + verdict
  }
}
