internal import Bytes
import Enforcement
import OAuth
import Policy
import Proxy

/// The destinations of authorization responses, so that none passes from a path that has no rules (`I-path`).
struct LocationGuard: Sendable {
  /// Hashes of the redirect URIs: for 100,000 clients, the locations themselves would take a quarter of the policy's
  /// memory. A hash collision refuses one response too many; it never passes one.
  private let addresses: Set<Int>
  private let origin: ResolvedLocation
  private let callbackPath: [UInt8]
  /// The loopback redirect URIs of enforced clients without their ports, as hashes: an app may listen on any port.
  private let loopbacks: Set<Int>
  /// Hashes of the redirect URIs of observed clients.
  private let observedAddresses: Set<Int>
  private let observedLoopbacks: Set<Int>
  private let upstream: ResolvedLocation
  /// The observed clients whose id an enforced client uses upstream.
  private let sharedIDs: Set<ClientID>
  /// False if no client is enforced. Then only the gateway's callback is guarded.
  private let isEnforcing: Bool

  /// - Parameter policy: The redirect URIs of its enforced clients are guarded; those of observed clients are not
  ///   (`I-observe`).
  init(_ policy: Policy) {
    isEnforcing = policy.isEnforcing
    let observed = policy.clients.values.lazy.filter { $0.mode == .observe }
    sharedIDs = Set(observed.filter(policy.sharesEnforcedUpstream).map(\.id))
    origin = ResolvedLocation(policy.gateway.origin.description + "/", on: nil)
    upstream = ResolvedLocation(policy.upstream.origin.description + "/", on: nil)
    let watched = observed.flatMap { $0.redirectURIs.map { ResolvedLocation($0.text, on: nil) } }
    observedAddresses = Set(watched.map(\.hashValue))
    observedLoopbacks = Set(watched.filter(\.isLoopback).map(\.withoutPort.hashValue))
    var addresses: Set<Int> = []
    var loopbacks: Set<Int> = []
    addresses.reserveCapacity(policy.clients.count)
    for client in policy.clients.values where client.mode == .enforce {
      for uri in client.redirectURIs {
        let location = ResolvedLocation(uri.text, on: nil)
        addresses.insert(location.hashValue)
        if location.isLoopback { loopbacks.insert(location.withoutPort.hashValue) }
      }
      if case .fixed(let text) = client.upstream.redirectURI {
        addresses.insert(ResolvedLocation(text, on: nil).hashValue)
      }
    }
    self.addresses = addresses
    self.loopbacks = loopbacks
    callbackPath = Array(LocationGuard.callback.utf8)
  }

  private static let appSchemes = [Array("intent".utf8), Array("android-app".utf8)]
  private static let tokenNames = ["code=", "access_token=", "id_token="]
  private static let errorNames = ["error="]
  /// `code` as a parameter of a query or fragment, but not as the end of `promo_code`.
  private static let codeParameters = ["?code=", "&code=", "#code=", ";code="]

  /// Returns true if the location hands a code or a token to a redirect URI, in any spelling that a browser or an app
  /// reads as one.
  ///
  /// - Parameter field: The value of `Location`, or of `Refresh` with its delay.
  func leaksAuthorizationResponse(_ field: String) -> Bool {
    LocationGuard.carries(LocationGuard.tokenNames, field.utf8.span) && leadsToAnswers(field)
  }

  /// Returns true if the location hands an error to a redirect URI.
  func isError(_ field: String) -> Bool {
    LocationGuard.carries(LocationGuard.errorNames, field.utf8.span) && leadsToAnswers(field)
  }

  /// Returns true if the location leads to the gateway's callback path, on any host.
  func isCallback(_ field: String) -> Bool { resolved(field).path == callbackPath }

  /// Returns true if the location hands a code to an origin other than the gateway's and the upstream's.
  ///
  /// `leaksAuthorizationResponse` covers the redirect URIs of enforced clients. No other origin gets a code while a transaction runs.
  func leavesWithCode(_ field: String) -> Bool {
    guard LocationGuard.carries(LocationGuard.codeParameters, field.utf8.span) else { return false }
    let location = resolved(field)
    // A private-use scheme has no authority, but both origins have one.
    return location.authority != origin.authority && location.authority != upstream.authority
  }

  /// Returns true if the policy lists the location for an observed client.
  func isObserved(_ field: String) -> Bool {
    let location = resolved(field)
    return observedAddresses.contains(location.hashValue)
      || location.isLoopback && observedLoopbacks.contains(location.withoutPort.hashValue)
  }

  private func leadsToAnswers(_ field: String) -> Bool {
    let location = resolved(field)
    // On any host: the gateway may have more names than its policy lists.
    if location.path == callbackPath { return true }
    guard isEnforcing else { return false }
    if location.isInternational || addresses.contains(location.hashValue) { return true }
    // Android opens the app that the fragment of such a URL names, and passes the rest of the URL to it.
    if LocationGuard.appSchemes.contains(location.scheme) { return true }
    // An app may listen on any loopback port.
    return location.isLoopback && location.authority != origin.authority
  }

  /// Returns true if a passed response hands a code or a token to a redirect URI that is not the observed client's.
  ///
  /// - Parameters:
  ///   - field: As for `leaksAuthorizationResponse(_:)`.
  ///   - client: The observed client that the request names; `nil` if the policy does not list it.
  func leaksAuthorizationResponse(_ field: String, toObserved client: Client?) -> Bool {
    guard leaksAuthorizationResponse(field) else { return false }
    let location = resolved(field)
    guard let client, location.path != callbackPath else { return true }
    return isEnforced(location) && !belongs(location, to: client)
  }

  /// Returns true if a parameter names the gateway's callback, or a redirect URI of an enforced client that is not also
  /// the observed client's.
  ///
  /// - Parameter client: The observed client that the request names; `nil` if the policy does not list it.
  func isNamed(in parameters: FormParameters, by client: Client?) -> Bool {
    parameters.entries.contains { entry in
      var text = Array(entry.value.utf8)
      for _ in 0..<LocationGuard.rounds {
        if text.span.contains(LocationGuard.callback) { return true }
        if text.contains(UInt8(ascii: ":")) {
          let location = ResolvedLocation(text, on: nil)
          if isEnforced(location), client.map({ !belongs(location, to: $0) }) ?? true { return true }
        }
        let decoded = ResolvedLocation.decoded(text)
        guard decoded.count < text.count else { return false }
        text = decoded
      }
      return true
    }
  }

  private static let callback = GatewaySettings.ownPath + "callback"

  /// The number of decoding rounds, more than any server applies. A value that is still encoded then is refused.
  private static let rounds = 4

  private func resolved(_ field: String) -> ResolvedLocation {
    let target = RefreshField.target(of: LocationGuard.bytewise(field)).unicodeScalars
    return ResolvedLocation(target.map { UInt8(truncatingIfNeeded: $0.value) }, on: origin)
  }

  private func isEnforced(_ location: ResolvedLocation) -> Bool {
    location.isInternational || addresses.contains(location.hashValue)
      || location.isLoopback && loopbacks.contains(location.withoutPort.hashValue)
  }

  /// Returns true if the policy lists the location for this observed client, and no enforced client uses its id
  /// upstream.
  private func belongs(_ location: ResolvedLocation, to client: Client) -> Bool {
    guard !sharedIDs.contains(client.id) else { return false }
    return client.redirectURIs.contains { uri in
      let registered = ResolvedLocation(uri.text, on: nil)
      if registered == location { return true }
      guard client.application == .native, registered.isLoopback, location.isLoopback else { return false }
      return registered.withoutPort == location.withoutPort
    }
  }

  private static func carries(_ names: [String], _ field: Span<UInt8>) -> Bool {
    // Some apps compare parameter names without regard to case and decode them, some of them more than once.
    var text = Array(copying: field).map(\.lowercasedASCII)
    for _ in 0...rounds {
      for name in names where text.span.contains(name) { return true }
      let decoded = ResolvedLocation.decoded(text).map(\.lowercasedASCII)
      guard decoded.count < text.count else { return false }
      text = decoded
    }
    return true
  }

  /// Returns the text with each byte as one scalar, so that no two bytes combine.
  private static func bytewise(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in text.utf8 { scalars.append(Unicode.Scalar(byte)) }
    return String(scalars)
  }
}
