internal import FoundationEssentials

/// The result of one reload of the policy. The names of the properties are the names of the JSON members.
public struct ReloadReport: Encodable, Equatable, Sendable {
  /// The cause of a reload.
  public enum Reason: String, Encodable, Sendable {
    /// SIGHUP.
    case signal
    /// A change of a watched file.
    case file
    /// A request to the admin listener.
    case admin
  }

  /// The effect of a reload.
  public enum Result: String, Encodable, Sendable {
    /// The new policy is in force.
    case adopted
    /// The policy is the one that was in force; secrets, keys and certificates were read again.
    case unchanged
    /// The new policy has errors, and the old one stays in force.
    case errors
    /// The new policy is valid, but the running process cannot use it. The old one stays in force.
    case conflict
  }

  /// The number of warnings, and of errors, up to which a report contains them.
  static let maximumLines = 100

  /// The effect.
  public let result: Result
  /// The cause.
  public let reason: Reason
  /// The version of the policy in force after the reload.
  public let policy: String
  /// The number of clients of the policy in force.
  public let clients: Int
  /// The decisions that the new policy changes, one line each.
  public let changes: [String]
  /// The settings that the new policy changes, one line each.
  public let settings: [String]
  /// The warnings about the policy that was read.
  public let warnings: [String]
  /// The errors for which the policy was refused.
  public let errors: [String]

  /// Creates a report.
  public init(
    _ result: Result, _ reason: Reason, policy: String, clients: Int, changes: [String] = [], settings: [String] = [],
    warnings: [String] = [], errors: [String] = []
  ) {
    self.result = result
    self.reason = reason
    self.policy = policy
    self.clients = clients
    self.changes = changes
    self.settings = settings
    self.warnings = ReloadReport.limited(warnings)
    self.errors = ReloadReport.limited(errors)
  }

  private static func limited(_ lines: [String]) -> [String] {
    guard lines.count > maximumLines else { return lines }
    return lines.prefix(maximumLines) + ["\(lines.count - maximumLines) more on standard error"]
  }

  /// True if the policy that was read is in force.
  var hasTakenEffect: Bool {
    switch result {
    case .adopted, .unchanged: true
    case .errors, .conflict: false
    }
  }

  /// The status of the response to a request for this reload.
  var status: Int {
    switch result {
    case .adopted, .unchanged: 200
    case .errors: 422
    case .conflict: 409
    }
  }

  /// The report as one line of JSON.
  var json: [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and numbers can always be encoded.
    return [UInt8]((try? encoder.encode(self)) ?? Data()) + [UInt8(ascii: "\n")]
  }
}
