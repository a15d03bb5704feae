public import OAuth

/// The difference between the scopes that apps send and the scopes that the server knows (`scopes:`).
///
/// A class, so that a client without rules of its own needs only one pointer: a policy may have very many clients.
public final class ScopeRules: Sendable {
  /// The scope tokens that the gateway does not send to the server; `nil` if the mapping has no `drop`.
  public let drop: Set<String>?
  /// True if the mapping has a `default`, which may be an empty list.
  public let hasDefault: Bool
  /// The scope that the server gets if a request has none, or none is left after `drop`; `nil`: no scope.
  public let defaultScope: Scope?

  /// Creates rules; an argument that is `nil` means that the mapping does not have the list.
  ///
  /// - Parameters:
  ///   - drop: Scope tokens.
  ///   - defaults: Scope tokens, in the order in which the gateway sends them.
  public init(drop: Set<String>? = nil, default defaults: [String]? = nil) {
    self.drop = drop
    hasDefault = defaults != nil
    defaultScope = defaults.flatMap { Scope(parsing: $0.joined(separator: " ")) }
  }
}
