import OAuth
import Policy

/// The scope that is sent upstream for the scope of a request: without the tokens of `scopes.drop`, and with
/// `scopes.default` if no token is left.
///
/// The consent page, the sealed state and the sealed code contain the scope as the client sent it.
struct UpstreamScope {
  /// The scope for the upstream; `nil` to send none.
  let scope: Scope?
  /// True if a scope token of the request is not sent upstream.
  let isNarrowed: Bool

  /// Applies the scope rules of the policy.
  /// - Parameters:
  ///   - requested: The scope of the request; `nil` if it has none.
  ///   - client: The client. Its own `drop` and `default` each replace the list of the server.
  ///   - appliesDefault: True if the default is used when no scope is left. It is false in a refresh, in which an
  ///     omitted scope means the granted scope (RFC 6749, section 6).
  init(_ requested: Scope?, client: Client?, policy: Policy, appliesDefault: Bool) {
    let own = client?.upstream.scopes
    let server = policy.upstream.scopes
    guard own != nil || server != nil else {
      scope = requested
      isNarrowed = false
      return
    }
    let drop = own?.drop ?? server?.drop ?? []
    let tokens = requested?.text.split(separator: " ") ?? []
    let kept = tokens.filter { !drop.contains(String($0)) }
    isNarrowed = kept.count < tokens.count
    let rest = isNarrowed ? Scope(parsing: kept.joined(separator: " ")) : requested
    let defaults = own?.hasDefault == true ? own : server
    scope = rest ?? (appliesDefault ? defaults?.defaultScope : nil)
  }
}
