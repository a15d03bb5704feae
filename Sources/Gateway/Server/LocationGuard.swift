internal import Bytes
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
  private let callbackPath: [UInt8]

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
    callbackPath = Array((GatewaySettings.ownPath + "callback").utf8)
  }

  private static let names = ["code=", "access_token=", "id_token="]

  /// Whether the location hands a code or a token to a redirect URI, in any spelling that a browser or an app takes for
  /// one.
  ///
  /// - Parameter field: The value of `Location`, or of `Refresh` with its delay.
  func isAnswer(_ field: String) -> Bool {
    guard LocationGuard.carriesAnswer(field.utf8.span) else { return false }
    let target = RefreshField.target(of: LocationGuard.bytewise(field)).unicodeScalars
    let location = ResolvedLocation(target.map { UInt8(truncatingIfNeeded: $0.value) }, on: origin)
    // On whatever host: the gateway may have more names than its policy says.
    if location.path == callbackPath || location.isInternational || addresses.contains(location.hashValue) {
      return true
    }
    // Every loopback port may be an app's.
    return location.isLoopback && location.authority != origin.authority
  }

  private static func carriesAnswer(_ field: Span<UInt8>) -> Bool {
    for name in names where field.contains(name) { return true }
    // An app decodes the names of parameters.
    guard field.contains(UInt8(ascii: "%")) else { return false }
    let decoded = ResolvedLocation.decoded(Array(copying: field))
    return names.contains { decoded.span.contains($0) }
  }

  /// The text with each byte as a character of its own, so that none joins another.
  private static func bytewise(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in text.utf8 { scalars.append(Unicode.Scalar(byte)) }
    return String(scalars)
  }
}
