import FoundationEssentials
import Reactor

/// The control sequences for colors (ECMA-48, section 8.3.117), and the decision to use them.
enum TerminalColor {
  static let red = "\u{1b}[1;31m"
  static let green = "\u{1b}[1;32m"
  static let yellow = "\u{1b}[1;33m"
  static let blue = "\u{1b}[1;34m"
  static let reset = "\u{1b}[0m"

  /// True if standard output shows colors: it is a terminal, and the user does not object.
  static var isUsedForOutput: Bool { ProcessControl.writesToTerminal && isPermitted }

  /// True if standard error shows colors.
  static var isUsedForErrors: Bool { ProcessControl.writesErrorsToTerminal && isPermitted }

  private static var isPermitted: Bool { permits(ProcessInfo.processInfo.environment) }

  /// Returns true if the environment does not object to colors: `NO_COLOR` is absent or empty (no-color.org), and the
  /// terminal is not `dumb`.
  static func permits(_ environment: [String: String]) -> Bool {
    environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }
}
