import Enforcement
import OAuth
import Policy

/// Knows where authorization responses go, so that none passes from a path where nobody looks at it (`I-path`).
struct LocationGuard: Sendable {
  private let addresses: Set<String>
  private let callbackPath: String

  init(_ policy: Policy) {
    var addresses: Set = [policy.gateway.callback]
    for client in policy.clients.values {
      for uri in client.redirectURIs { addresses.insert(LocationGuard.base(of: uri.text)) }
      if case .fixed(let text) = client.upstream.redirectURI { addresses.insert(LocationGuard.base(of: text)) }
    }
    self.addresses = addresses
    callbackPath = GatewaySettings.ownPath + "callback"
  }

  private static let names = ["code=", "access_token=", "id_token="]

  /// Whether the location hands a code or a token to a redirect URI.
  func isAnswer(_ location: String) -> Bool {
    guard LocationGuard.names.contains(where: { location.contains($0) }) else { return false }
    let base = LocationGuard.base(of: location)
    if base == callbackPath || addresses.contains(base) { return true }
    guard let uri = try? RedirectURI(parsing: base) else { return false }
    // Every loopback port may be an app's.
    switch uri.kind {
    case .loopback, .localhost: return true
    default: return false
    }
  }

  /// Whether the location is a known redirect URI, with whatever parameters.
  func isKnown(_ location: String) -> Bool {
    let base = LocationGuard.base(of: location)
    return base == callbackPath || addresses.contains(base)
  }

  private static func base(of location: String) -> String {
    String(location.prefix { $0 != "?" && $0 != "#" })
  }
}
