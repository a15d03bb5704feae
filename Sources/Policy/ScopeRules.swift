public import OAuth

/// The rules by which the gateway changes the scope of a client's request before it sends the request to the server
/// (the mapping `scopes:`).
///
/// This is a class so that each client, with or without rules, needs only one pointer for them. A policy may have very
/// many clients.
public final class ScopeRules: Sendable {
  /// The regular expression of a scope token (RFC 6749, section 3.3).
  public static let tokenPattern = #"^[!#-\[\]-~]+$"#

  /// The scope tokens that are not sent to the server; `nil` if the mapping has no `drop`.
  public let drop: Set<String>?
  /// True if the mapping has the key `default`, even with an empty list. A client with this key does not use the
  /// `default` of `upstream.scopes`.
  public let hasDefault: Bool
  /// The scope that is sent to the server if a request has no scope, or only tokens of `drop`; `nil` if the mapping
  /// has no `default`, or an empty one.
  public let defaultScope: Scope?

  /// The scope tokens that each sign-in has at the server, in addition to its scope; `nil` if the mapping has no `add`.
  public let added: [String]?

  /// Creates rules from the lists of a mapping. An argument is `nil` if the mapping does not have this list.
  ///
  /// - Parameters:
  ///   - drop: The scope tokens that are not sent.
  ///   - defaults: The tokens of the default scope, in the order in which they are sent.
  ///   - added: The tokens that are added, in the order in which they are sent.
  public init(drop: Set<String>? = nil, default defaults: [String]? = nil, adding added: [String]? = nil) {
    self.drop = drop
    self.added = added
    hasDefault = defaults != nil
    defaultScope = defaults.flatMap { Scope(parsing: $0.joined(separator: " ")) }
  }
}
