/// One chapter of the demo's story: the attempt, the requests and the responses.
public struct DemoStep: Sendable {
  /// One line of the story.
  public struct Line: Sendable, Equatable {
    /// The acting party: `app`, `browser`, `gateway`, `thief`, ...
    public var speaker: String
    /// The words of the line.
    public var text: String
  }

  /// The heading of the chapter.
  public var title: String
  /// The lines, in order.
  public var lines: [Line] = []
  /// The result of the step, or the expectation that it did not meet.
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
