import OAuth
import Policy

/// The scope of a request as it goes upstream: without the tokens that the server does not know (`scopes:`).
///
/// The consent page shows the scope of the app, and the state and the code carry it.
struct UpstreamScope {
  /// `nil` where none goes upstream.
  let scope: Scope?
  /// True if a token of the request does not go upstream.
  let isNarrowed: Bool

  /// - Parameters:
  ///   - requested: The scope that the app sent; `nil` for none.
  ///   - client: Its rules take the place of the server's, `drop` and `default` each for itself.
  ///   - takesDefault: True for a request in which no scope means the server's own default. In a refresh it means the scope
  ///     that was granted (RFC 6749, section 6).
  init(_ requested: Scope?, client: Client?, policy: Policy, takesDefault: Bool) {
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
    scope = rest ?? (takesDefault ? defaults?.defaultScope : nil)
  }
}
