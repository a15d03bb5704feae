internal import ByteText
import Enforcement
import OAuth
import Policy
import Proxy

/// Detects locations that would take an authorization response past the gateway (`I-path`).
///
/// The upstream may send an authorization response from any path. The guard therefore checks the locations in all
/// forwarded responses: a code or token for a redirect URI of an enforced client, or for the gateway's callback, must
/// not reach a browser unchecked.
struct LocationGuard: Sendable {
  /// Hashes of the redirect URIs of enforced clients and of their fixed upstream redirect URIs. With 100,000 clients,
  /// the URIs themselves would take a quarter of the policy's memory. A hash collision can only refuse a response too
  /// many.
  private let addresses: Set<Int>
  private let origin: ResolvedLocation
  private let callbackPath: [UInt8]
  /// Hashes of the loopback redirect URIs of enforced clients, without ports: an app may listen on any port.
  private let loopbacks: Set<Int>
  /// Hashes of the redirect URIs of observed clients.
  private let observedAddresses: Set<Int>
  /// Hashes of the loopback redirect URIs of observed clients, without ports.
  private let observedLoopbacks: Set<Int>
  private let upstream: ResolvedLocation
  /// The observed clients whose id is also the upstream id of an enforced client.
  private let sharedIDs: Set<ClientID>
  /// True if the policy enforces a client. If false, the guard protects only the gateway's callback.
  private let isEnforcing: Bool

  /// - Parameter policy: The guard protects the redirect URIs of its enforced clients, and not those of its observed
  ///   clients (`I-observe`).
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
  /// The parameter `code` of a query or fragment. The separators exclude names such as `promo_code`.
  private static let codeParameters = ["?code=", "&code=", "#code=", ";code="]

  /// Returns true if the location contains a code or a token and leads to the gateway's callback or, if the policy
  /// enforces a client, to a URI that may deliver it to an enforced client: a registered redirect URI in any spelling
  /// that a browser or an app accepts, a loopback address, an Android app link, or an internationalised host.
  ///
  /// - Parameter field: The value of `Location` or of `Refresh`, which begins with a delay.
  func leaksAuthorizationResponse(_ field: String) -> Bool {
    LocationGuard.containsAny(of: LocationGuard.tokenNames, field.utf8.span) && leadsToProtectedURI(field)
  }

  /// Returns true if the location contains an error response and leads to one of the same destinations.
  func isError(_ field: String) -> Bool {
    LocationGuard.containsAny(of: LocationGuard.errorNames, field.utf8.span) && leadsToProtectedURI(field)
  }

  /// Returns true if the location leads to the gateway's callback path, on any host.
  func isCallback(_ field: String) -> Bool { resolved(field).contains { $0.path == callbackPath } }

  /// Returns true if the location contains a code and leads to an origin other than the gateway's and the upstream's.
  ///
  /// `leaksAuthorizationResponse` protects only the redirect URIs of enforced clients. With this function, the callers
  /// make sure that no other origin gets a code while a transaction runs.
  func sendsCodeElsewhere(_ field: String) -> Bool {
    guard LocationGuard.containsAny(of: LocationGuard.codeParameters, field.utf8.span) else { return false }
    // The authority of a location with a private-use scheme is empty, so it differs from both.
    return resolved(field).contains { $0.authority != origin.authority && $0.authority != upstream.authority }
  }

  /// Returns true if the location is a redirect URI of an observed client.
  func isObserved(_ field: String) -> Bool {
    resolved(field).allSatisfy { location in
      observedAddresses.contains(location.hashValue)
        || location.isLoopback && observedLoopbacks.contains(location.withoutPort.hashValue)
    }
  }

  private func leadsToProtectedURI(_ field: String) -> Bool { resolved(field).contains(where: isProtected) }

  private func isProtected(_ location: ResolvedLocation) -> Bool {
    // The host is not compared: the gateway may have more names than the policy lists.
    if location.path == callbackPath { return true }
    guard isEnforcing else { return false }
    if location.isInternational || addresses.contains(location.hashValue) { return true }
    // Android opens the app that the fragment of such a URL names, and passes the URL to it.
    if LocationGuard.appSchemes.contains(location.scheme) { return true }
    // An app may listen on any loopback port.
    return location.isLoopback && location.authority != origin.authority
  }

  /// Returns true if a response to an observed client contains a code or a token for a protected URI that is not a
  /// redirect URI of this client. For a client that the policy does not list, every protected URI counts.
  ///
  /// - Parameters:
  ///   - field: The value of `Location` or `Refresh`, or a target of `Link`.
  ///   - client: The client that the request names; `nil` if the policy does not list it.
  func leaksAuthorizationResponse(_ field: String, toObserved client: Client?) -> Bool {
    guard leaksAuthorizationResponse(field) else { return false }
    return resolved(field).contains { location in
      guard let client, location.path != callbackPath else { return true }
      return isEnforced(location) && !belongs(location, to: client)
    }
  }

  /// Returns true if a parameter value contains the path of the gateway's callback, is a redirect URI of an enforced
  /// client that is not a redirect URI of the observed client, or is encoded more often than the guard decodes.
  ///
  /// - Parameter client: The observed client that the request names; `nil` if the policy does not list it.
  func namesGuardedURI(_ parameters: FormParameters, observed client: Client?) -> Bool {
    parameters.entries.contains { entry in
      var text = Array(entry.value.utf8)
      for _ in 0..<LocationGuard.decodingRounds {
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

  /// The number of times that a value is percent-decoded: more often than any server does. A value that is still
  /// encoded after that counts as a match.
  private static let decodingRounds = 4

  private func resolved(_ field: String) -> [ResolvedLocation] {
    let target = RefreshField.target(of: LocationGuard.bytewise(field)).unicodeScalars
    return ResolvedLocation.readings(of: target.map { UInt8(truncatingIfNeeded: $0.value) }, on: origin)
  }

  private func isEnforced(_ location: ResolvedLocation) -> Bool {
    location.isInternational || addresses.contains(location.hashValue)
      || location.isLoopback && loopbacks.contains(location.withoutPort.hashValue)
  }

  /// Returns true if the location is a redirect URI of this observed client, and the id of the client is not the
  /// upstream id of an enforced client. Ports of loopback URIs are ignored for a native app.
  private func belongs(_ location: ResolvedLocation, to client: Client) -> Bool {
    guard !sharedIDs.contains(client.id) else { return false }
    return client.redirectURIs.contains { uri in
      let registered = ResolvedLocation(uri.text, on: nil)
      if registered == location { return true }
      guard client.application == .native, registered.isLoopback, location.isLoopback else { return false }
      return registered.withoutPort == location.withoutPort
    }
  }

  /// Returns true if the text contains one of the names, before or after decoding, or is encoded too often to tell.
  private static func containsAny(of names: [String], _ field: Span<UInt8>) -> Bool {
    // Some apps ignore the case of parameter names, and some decode the names, even more than once.
    var text = Array(copying: field).map(\.lowercasedASCII)
    for _ in 0...decodingRounds {
      for name in names where text.span.contains(name) { return true }
      let decoded = ResolvedLocation.decoded(text).map(\.lowercasedASCII)
      guard decoded.count < text.count else { return false }
      text = decoded
    }
    return true
  }

  /// Returns a string with one Unicode scalar for each byte of the text. Otherwise Swift could join a separator and a
  /// following combining mark into one character.
  private static func bytewise(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for byte in text.utf8 { scalars.append(Unicode.Scalar(byte)) }
    return String(scalars)
  }
}
