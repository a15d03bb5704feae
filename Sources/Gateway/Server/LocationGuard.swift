import Enforcement
import OAuth
import Policy
import Proxy

/// Knows where authorization responses go, so that none passes from a path where nobody looks at it (`I-path`).
struct LocationGuard: Sendable {
  /// The redirect URIs' hashes: of a hundred thousand clients the locations themselves would take a quarter of the policy's
  /// memory. Where two share one by chance, a response too many is refused.
  private let addresses: Set<Int>
  private let origin: ResolvedLocation
  private let callbackPath: String

  init(_ policy: Policy) {
    origin = ResolvedLocation(policy.gateway.origin.description + "/", on: nil)
    var addresses: Set<Int> = []
    addresses.reserveCapacity(policy.clients.count)
    for client in policy.clients.values {
      for uri in client.redirectURIs { addresses.insert(ResolvedLocation(uri.text, on: nil).hashValue) }
      if case .fixed(let text) = client.upstream.redirectURI {
        addresses.insert(ResolvedLocation(text, on: nil).hashValue)
      }
    }
    self.addresses = addresses
    callbackPath = GatewaySettings.ownPath + "callback"
  }

  private static let names = ["code=", "access_token=", "id_token="]

  /// Whether the location hands a code or a token to a redirect URI, in any spelling that a browser or an app takes for
  /// one.
  ///
  /// - Parameter field: The value of `Location`, or of `Refresh` with its delay.
  func isAnswer(_ field: String) -> Bool {
    let field = ResolvedLocation.bytewise(field)
    guard LocationGuard.carriesAnswer(field) else { return false }
    let target = RefreshField.target(of: field).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    let location = ResolvedLocation(String(decoding: target, as: UTF8.self), on: origin)
    // On whatever host: the gateway may have more names than its policy says.
    if location.path == callbackPath || location.isInternational || addresses.contains(location.hashValue) {
      return true
    }
    // Every loopback port may be an app's.
    return location.isLoopback && location.authority != origin.authority
  }

  private static func carriesAnswer(_ field: String) -> Bool {
    if names.contains(where: { field.contains($0) }) { return true }
    // An app decodes the names of parameters.
    guard field.contains("%") else { return false }
    let decoded = ResolvedLocation.decoded(field)
    return names.contains { decoded.contains($0) }
  }
}
