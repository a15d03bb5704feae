import OAuth
import Policy

/// The scope of a request as sent upstream, without the tokens that the upstream does not support (`scopes:`).
///
/// The consent page, the state and the code use the original scope of the app.
struct UpstreamScope {
  /// The scope for the upstream; `nil` to send none.
  let scope: Scope?
  /// True if a token of the request is not sent upstream.
  let isNarrowed: Bool

  /// Applies the scope rules of the policy.
  /// - Parameters:
  ///   - requested: The scope that the app sent; `nil` if it sent none.
  ///   - client: The client, whose `drop` and `default` each replace that of the server.
  ///   - takesDefault: True for a request in which an omitted scope means the default of the server. In a refresh, it
  ///     means the granted scope instead (RFC 6749, section 6).
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
