import FoundationEssentials
import PolicyFile

/// Input: a policy file. It gives a policy exactly if no diagnostic is an error, and the diagnostics are the same each
/// time.
enum PolicyTarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    let path = "/tmp/proofgate-fuzz-\(ProcessInfo.processInfo.processIdentifier).yaml"
    // Foundation leaks a page for each empty file that it reads.
    guard (1...1 << 16).contains(input.count), (try? Data(input).write(to: URL(fileURLWithPath: path))) != nil else {
      return
    }
    defer { try? FileManager.default.removeItem(atPath: path) }
    let outcome = PolicyFile.load(path: path, environment: ["SECRET": "0123456789abcdef0123456789abcdef"])
    try Violation.unless(
      (outcome.policy == nil) == outcome.diagnostics.hasErrors, "a policy with errors, or none without")
    let again = PolicyFile.load(path: path, environment: ["SECRET": "0123456789abcdef0123456789abcdef"])
    try Violation.unless(again.diagnostics == outcome.diagnostics, "a second reading says something else")
    let lines = input.reduce(1) { $1 == 0x0a ? $0 + 1 : $0 }
    for diagnostic in outcome.diagnostics + outcome.unsupportedSettings {
      try Violation.unless(
        !diagnostic.description.utf8.contains { $0 < 0x20 || $0 == 0x7f }, "a diagnostic of several lines")
      // Other line ends of YAML are not counted here, so the upper bound holds only without them.
      let isPlain = !input.contains { $0 == 0x0d || $0 == 0xe2 || $0 == 0xc2 }
      try Violation.unless(
        diagnostic.line >= 1 && diagnostic.column >= 1 && (!isPlain || diagnostic.line <= lines + 1),
        "a diagnostic that stands nowhere")
      try Violation.unless(!diagnostic.message.contains("0123456789abcdef0123"), "a diagnostic that shows a secret")
    }
  }
}
