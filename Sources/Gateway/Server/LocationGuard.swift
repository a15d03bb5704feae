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
  ///
  /// - Parameter field: The value of `Location`, or of `Refresh` with its delay.
  func isAnswer(_ field: String) -> Bool {
    guard LocationGuard.names.contains(where: { field.contains($0) }) else { return false }
    let base = LocationGuard.base(of: LocationGuard.target(of: field))
    if base == callbackPath || addresses.contains(base) { return true }
    guard let uri = try? RedirectURI(parsing: base) else { return false }
    // Every loopback port may be an app's.
    switch uri.kind {
    case .loopback, .localhost: return true
    default: return false
    }
  }

  /// Where a field leads: of `Refresh`, what follows the delay (HTML, "shared declarative refresh steps"). No URI
  /// begins with a digit or a dot, and a relative one that does leads to no redirect URI.
  private static func target(of field: String) -> Substring {
    let text = field.drop(while: isSpace)
    guard let first = text.first, first.isASCII, first.isNumber || first == "." else { return text }
    var rest = text.drop { $0.isNumber || $0 == "." }.drop { isSpace($0) || $0 == ";" || $0 == "," }
    if rest.prefix(3).lowercased() == "url" {
      let value = rest.dropFirst(3).drop(while: isSpace)
      if value.first == "=" { rest = value.dropFirst().drop(while: isSpace) }
    }
    guard let quote = rest.first, quote == "'" || quote == "\"" else { return rest }
    return rest.dropFirst().prefix { $0 != quote }
  }

  private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }

  private static func base(of location: some StringProtocol) -> String {
    String(location.prefix { $0 != "?" && $0 != "#" })
  }
}
