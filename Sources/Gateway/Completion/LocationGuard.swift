internal import ByteText
import Enforcement
import HTTP
import OAuth
import Policy
import Proxy

/// Detects URLs that would deliver an authorization response of the upstream directly to a client, without the
/// gateway's checks (`I-path`).
///
/// The upstream may send an authorization response from any path. The guard therefore checks the URLs in `Location`,
/// `Refresh`, `Content-Location` and `Link` fields of all forwarded responses. A URL with a code or token must not
/// reach a browser unchecked if it leads to a protected URI: the gateway's callback, or a redirect URI of an enforced
/// client. The guard also recognises the redirect URIs of observed clients, which are not protected.
struct LocationGuard: Sendable {
  /// Hashes of the redirect URIs of enforced clients and of their fixed upstream redirect URIs. For 100,000 clients,
  /// the URIs themselves would need a quarter of the memory that the policy needs. A hash collision can only cause a
  /// needless refusal.
  private let enforcedURIs: Set<Int>
  /// The gateway's origin.
  private let origin: ResolvedLocation
  private let callbackPath: [UInt8]
  /// Hashes of the loopback redirect URIs of enforced clients. The URIs are without ports, because an app may listen on
  /// any port.
  private let enforcedLoopbackURIs: Set<Int>
  /// Hashes of the redirect URIs of observed clients.
  private let observedURIs: Set<Int>
  /// Hashes of the loopback redirect URIs of observed clients. The URIs are without ports.
  private let observedLoopbackURIs: Set<Int>
  /// The origins that lead back to the gateway: its own, and those of the upstream, which are replaced by it.
  private let ownOrigins: [ResolvedLocation]
  /// The ids of observed clients that a server may take for the id or the upstream id of an enforced client.
  private let sharedIDs: Set<ClientID>
  /// True if the policy enforces a client. If false, the guard protects only the gateway's callback.
  private let isEnforcing: Bool

  /// - Parameter policy: The policy with the clients. Redirect URIs of observed clients are not protected
  ///   (`I-observe`).
  init(_ policy: Policy) {
    isEnforcing = policy.isEnforcing
    let observed = policy.clients.values.lazy.filter { $0.mode == .observe }
    sharedIDs = Set(observed.filter(policy.resemblesEnforcedClient).map(\.id))
    origin = ResolvedLocation(policy.gateway.origin.description + "/", on: nil)
    let origins = ServerOrigins(policy)
    // In observe mode, a URL with http keeps it.
    ownOrigins = ([policy.gateway.origin.description] + origins.hidden + (isEnforcing ? origins.insecure : [])).map {
      ResolvedLocation($0 + "/", on: nil)
    }
    let observedLocations = observed.flatMap { $0.redirectURIs.map { ResolvedLocation($0.text, on: nil) } }
    observedURIs = Set(observedLocations.map(\.hashValue))
    observedLoopbackURIs = Set(observedLocations.filter(\.isLoopback).map(\.withoutPort.hashValue))
    var enforcedURIs: Set<Int> = []
    var enforcedLoopbackURIs: Set<Int> = []
    enforcedURIs.reserveCapacity(policy.clients.count)
    for client in policy.clients.values where client.mode == .enforce {
      for uri in client.redirectURIs {
        let location = ResolvedLocation(uri.text, on: nil)
        enforcedURIs.insert(location.hashValue)
        if location.isLoopback { enforcedLoopbackURIs.insert(location.withoutPort.hashValue) }
      }
      if case .fixed(let text) = client.upstream.redirectURI {
        enforcedURIs.insert(ResolvedLocation(text, on: nil).hashValue)
      }
    }
    if policy.isEnforcing {
      for case .fixed(let text) in policy.sharedUpstreamClients.map(\.redirectURI) {
        enforcedURIs.insert(ResolvedLocation(text, on: nil).hashValue)
      }
    }
    self.enforcedURIs = enforcedURIs
    self.enforcedLoopbackURIs = enforcedLoopbackURIs
    callbackPath = Array(LocationGuard.callback.utf8)
  }

  /// Schemes of URLs with which Android opens an app.
  private static let appSchemes = [Array("intent".utf8), Array("android-app".utf8)]
  private static let codeAndTokenNames = ["code=", "access_token=", "id_token="]
  private static let errorNames = ["error="]
  /// The beginnings of a parameter `code` in a query or fragment. Because of the separators, a name such as
  /// `promo_code` does not match.
  private static let codeParameters = ["?code=", "&code=", "#code=", ";code="]

  /// Returns true if the location contains a code or a token and leads to a protected URI: the gateway's callback or,
  /// if the policy enforces a client, a URI that may deliver the response to an enforced client. A URI of the second
  /// kind is a redirect URI of an enforced client in any spelling that a browser or an app accepts, a loopback address
  /// other than the gateway's own origin, a URL with which Android opens an app, or a URL whose host is not ASCII.
  ///
  /// - Parameter field: The value of `Location`, `Content-Location` or `Refresh` (which begins with a delay), or a
  ///   target of `Link`.
  func leaksAuthorizationResponse(_ field: String) -> Bool {
    mayContainCodeOrToken(field) && leadsToProtectedURI(field)
  }

  /// Returns true if the location contains an error response and leads to a protected URI (see
  /// `leaksAuthorizationResponse`).
  func sendsErrorToProtectedURI(_ field: String) -> Bool {
    LocationGuard.containsAny(of: LocationGuard.errorNames, field.utf8.span) && leadsToProtectedURI(field)
  }

  /// Returns true if the location leads to the gateway's callback path, on any host.
  func leadsToCallback(_ field: String) -> Bool { locations(of: field).contains { $0.path == callbackPath } }

  /// Returns true if the location may contain a code or a token. If not, `leaksAuthorizationResponse(_:)` and
  /// `sendsCodeToOtherOrigin(_:)` are false.
  func mayContainCodeOrToken(_ field: String) -> Bool {
    LocationGuard.containsAny(of: LocationGuard.codeAndTokenNames, field.utf8.span)
  }

  /// The maximum number of targets of the `Link` fields of a response that may contain a code or a token. Each is resolved
  /// several times, and no page needs more than a few.
  private static let maximumSuspectTargets = 64

  /// Returns the targets of the `Link` fields of one response that may contain a code or a token. If there are more than
  /// ``maximumSuspectTargets``, returns a single target that `leaksAuthorizationResponse(_:)` refuses.
  func suspectTargets(of links: [String]) -> [String] {
    var targets: [String] = []
    for link in links {
      LinkField.forEachTarget(of: link.utf8.span) { target in
        guard LocationGuard.containsAny(of: LocationGuard.codeAndTokenNames, target) else { return true }
        targets.append(String(decoding: [UInt8](copying: target), as: UTF8.self))
        return targets.count <= LocationGuard.maximumSuspectTargets
      }
      if targets.count > LocationGuard.maximumSuspectTargets { return [LocationGuard.callback + "?code="] }
    }
    return targets
  }

  /// Returns true if a redirect with this status makes a browser repeat a POST (RFC 9110, sections 15.4.8 and 15.4.9) on
  /// an origin other than the gateway's and the upstream's, for example on the host of one of them with another scheme.
  func repeatsPostOnOtherOrigin(_ location: String, status: Int, isPost: Bool) -> Bool {
    guard isPost, status == 307 || status == 308 else { return false }
    return locations(of: location).contains { location in
      ownOrigins.allSatisfy { $0.scheme != location.scheme || $0.authority != location.authority }
    }
  }

  /// Returns true if the location contains a code and leads to an origin other than the gateway's and the upstream's.
  ///
  /// `leaksAuthorizationResponse` detects only protected URIs. The callers use this function to make sure that, while a
  /// transaction runs, no other URI gets a code either.
  func sendsCodeToOtherOrigin(_ field: String) -> Bool {
    guard LocationGuard.containsAny(of: LocationGuard.codeParameters, field.utf8.span) else { return false }
    // The authority of a location with a private-use scheme is empty, and so differs from both origins.
    return locations(of: field).contains { location in
      ownOrigins.allSatisfy { $0.authority != location.authority }
    }
  }

  /// Returns true if the location is a redirect URI of an observed client.
  func isObservedRedirectURI(_ field: String) -> Bool {
    locations(of: field).allSatisfy { location in
      observedURIs.contains(location.hashValue)
        || location.isLoopback && observedLoopbackURIs.contains(location.withoutPort.hashValue)
    }
  }

  private func leadsToProtectedURI(_ field: String) -> Bool { locations(of: field).contains(where: isProtected) }

  private func isProtected(_ location: ResolvedLocation) -> Bool {
    // The host is not compared, because the gateway may have more host names than the policy lists.
    if location.path == callbackPath { return true }
    guard isEnforcing else { return false }
    if location.hasNonASCIIHost || enforcedURIs.contains(location.hashValue) { return true }
    // Android opens the app that the URL names, and passes the URL to this app.
    if LocationGuard.appSchemes.contains(location.scheme) { return true }
    // An app may listen on any loopback port.
    return location.isLoopback && location.authority != origin.authority
  }

  /// Returns true if a response to an observed client contains a code or a token and leads to the gateway's callback,
  /// or to a redirect URI of an enforced client that is not also a redirect URI of the observed client. If the policy
  /// does not list the client, every protected URI counts.
  ///
  /// - Parameters:
  ///   - field: A value as for `leaksAuthorizationResponse(_:)`.
  ///   - client: The client that the request names; `nil` if the policy does not list it.
  func leaksAuthorizationResponse(_ field: String, toObserved client: Client?) -> Bool {
    guard leaksAuthorizationResponse(field) else { return false }
    return locations(of: field).contains { location in
      guard let client, location.path != callbackPath else { return true }
      return isEnforcedURI(location) && !isRedirectURI(location, of: client)
    }
  }

  /// Returns true if a parameter value contains the path of the gateway's callback, or is a redirect URI of an enforced
  /// client that is not also a redirect URI of the observed client. Also returns true if a value is percent-encoded
  /// `decodingRounds` times or more.
  ///
  /// - Parameter client: The observed client that the request names; `nil` if the policy does not list it.
  func containsProtectedURI(_ parameters: FormParameters, observed client: Client?) -> Bool {
    parameters.entries.contains { entry in
      var text = Array(entry.value.utf8)
      for _ in 0..<LocationGuard.decodingRounds {
        if text.span.contains(LocationGuard.callback) { return true }
        if text.contains(UInt8(ascii: ":")) {
          let location = ResolvedLocation(text, on: nil)
          if isEnforcedURI(location), client.map({ !isRedirectURI(location, of: $0) }) ?? true {
            return true
          }
        }
        let decoded = ResolvedLocation.decoded(text[...])
        guard decoded.count < text.count else { return false }
        text = decoded
      }
      return true
    }
  }

  private static let callback = GatewaySettings.ownPath + "callback"

  /// The maximum number of times that a value is percent-decoded. No server is expected to decode a value more often.
  private static let decodingRounds = 4

  /// Returns every location to which the value may lead (see `leaksAuthorizationResponse(_:)` for the fields).
  private func locations(of field: String) -> [ResolvedLocation] {
    // As bytes of the field: the text has three for each byte outside ASCII of a value that is not UTF-8.
    let target = RefreshField.target(of: field)
    return ResolvedLocation.interpretations(of: FieldText.encode(target.span), on: origin)
  }

  /// Returns true if the location is a redirect URI of an enforced client. Also returns true if the host is not ASCII,
  /// because browsers may map such a host to that of a redirect URI.
  private func isEnforcedURI(_ location: ResolvedLocation) -> Bool {
    location.hasNonASCIIHost || enforcedURIs.contains(location.hashValue)
      || location.isLoopback && enforcedLoopbackURIs.contains(location.withoutPort.hashValue)
  }

  /// Returns true if the location is a redirect URI of this observed client. Always false if a server may take the
  /// client's id for that of an enforced client. For a native app, the ports of loopback URIs are not compared.
  private func isRedirectURI(_ location: ResolvedLocation, of client: Client) -> Bool {
    guard !sharedIDs.contains(client.id) else { return false }
    return client.redirectURIs.contains { uri in
      let registered = ResolvedLocation(uri.text, on: nil)
      if registered == location { return true }
      guard client.application == .native, registered.isLoopback, location.isLoopback else { return false }
      return registered.withoutPort == location.withoutPort
    }
  }

  /// The length in bytes from which ``containsAny(of:_:)`` counts the bytes that it reads.
  private static let longField = 4_096

  /// Returns the number of bytes that ``containsAny(of:_:)`` reads, at least.
  private static func readableCount(_ field: Span<UInt8>) -> Int {
    var count = 0
    for index in field.indices where field[index] < 0x80 || index == 0 || field[index - 1] < 0x80 { count += 1 }
    return count
  }

  /// Returns true if the text contains one of the names, as it is or after decoding, or is percent-encoded more often
  /// than `decodingRounds`.
  private static func containsAny(of names: [String], _ field: Span<UInt8>) -> Bool {
    // Browsers remove tabs from a URL. Some apps ignore the case of parameter names, and some decode the names once or
    // several times. No name has a byte outside ASCII, so one such byte replaces several in a row: a byte of a value that
    // is not UTF-8 has three in its text.
    var text: [UInt8] = []
    text.append(addingCapacity: field.count > longField ? readableCount(field) : field.count) { output in
      var isAfterOther = false
      for index in field.indices where field[index] != .tab {
        let byte = field[index]
        if byte < 0x80 || !isAfterOther { output.append(byte.lowercasedASCII) }
        isAfterOther = byte >= 0x80
      }
    }
    for _ in 0...decodingRounds {
      for name in names where text.span.contains(name) { return true }
      let decoded = ResolvedLocation.decoded(text[...]).map(\.lowercasedASCII)
      guard decoded.count < text.count else { return false }
      text = decoded
    }
    return true
  }
}
