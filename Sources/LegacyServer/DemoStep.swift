/// One chapter of the demo's story: what was tried, what was sent, what came back.
public struct DemoStep: Sendable {
  public struct Line: Sendable, Equatable {
    /// `app`, `browser`, `gateway`, `thief`, ...
    public var speaker: String
    public var text: String
  }

  public var title: String
  public var lines: [Line] = []
  /// What the step showed, or what went differently.
  public var verdict = ""
  public var isAsExpected = false

  init(_ title: String) {
    self.title = title
  }

  mutating func say(_ speaker: String, _ text: String) {
    lines.append(Line(speaker: speaker, text: text))
  }

  /// Ends the step.
  mutating func conclude(_ isAsExpected: Bool, _ verdict: String) {
    self.isAsExpected = isAsExpected
    self.verdict = isAsExpected ? verdict : "expected: " + verdict
  }
}
