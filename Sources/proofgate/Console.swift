import Reactor

/// Lines for the operator, on standard error: standard output belongs to the decision log and to what a command prints.
enum Console {
  static func say(_ text: String) {
    write("proofgate: \(text)")
  }

  static func warn(_ text: String) {
    write("proofgate: warning: \(text)")
  }

  static func fail(_ text: String) {
    write("proofgate: error: \(text)")
  }

  /// A line that says itself where it comes from, as diagnostics do.
  static func write(_ line: String) {
    // There is nobody to tell when standard error is gone.
    guard let file = try? LogFile(.standardError) else { return }
    _ = file.write(Array("\(line)\n".utf8))
  }
}
