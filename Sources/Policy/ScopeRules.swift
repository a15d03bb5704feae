public import OAuth

/// The difference between the scopes that apps send and the scopes that the server knows (`scopes:`).
///
/// A reference: few clients have rules of their own, and a policy may have very many clients.
public final class ScopeRules: Sendable {
  /// Scope tokens that do not go to the server; `nil` where the policy names none here.
  public let drop: Set<String>?
  /// True if the policy names a default here, which may be no scope.
  public let hasDefault: Bool
  /// The scope that the server gets in place of none.
  public let defaultScope: Scope?

  /// - Parameters:
  ///   - drop: Scope tokens.
  ///   - defaults: Scope tokens, in the order in which they are sent.
  public init(drop: Set<String>? = nil, default defaults: [String]? = nil) {
    self.drop = drop
    hasDefault = defaults != nil
    defaultScope = defaults.flatMap { Scope(parsing: $0.joined(separator: " ")) }
  }
}
