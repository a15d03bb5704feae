import Enforcement
import OAuth
import Policy

/// Knows where authorization responses go, so that none passes from a path where nobody looks at it (`I-path`).
struct LocationGuard: Sendable {
  private let addresses: Set<String>
  private let origin: Origin

  init(_ policy: Policy) {
    origin = policy.gateway.origin
    var addresses: Set = [policy.gateway.callback]
    for client in policy.clients.values {
      for uri in client.redirectURIs { addresses.insert(LocationGuard.base(of: uri.text)) }
      if case .fixed(let text) = client.upstream.redirectURI { addresses.insert(LocationGuard.base(of: text)) }
    }
    self.addresses = addresses
  }

  private static let names = ["code=", "access_token=", "id_token="]

  /// Whether the location hands a code or a token to a redirect URI.
  ///
  /// - Parameter field: The value of `Location`, or of `Refresh` with its delay.
  func isAnswer(_ field: String) -> Bool {
    guard LocationGuard.names.contains(where: { field.contains($0) }) else { return false }
    let written = LocationGuard.base(of: LocationGuard.target(of: field))
    let base = resolved(written)
    if addresses.contains(base) || addresses.contains(written) { return true }
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

  /// The address as a browser takes it (WHATWG URL, section 4.4): against the gateway's origin, names in lower case,
  /// backslashes as slashes, without user information and default ports.
  private func resolved(_ written: String) -> String {
    let scheme = written.prefix { $0 != ":" && $0 != "/" && $0 != "\\" }
    let hasScheme = !scheme.isEmpty && written.dropFirst(scheme.count).first == ":"
    let name = hasScheme ? scheme.lowercased() : origin.scheme.rawValue
    var rest = hasScheme ? written.dropFirst(scheme.count + 1) : written[...]
    guard name == "http" || name == "https" else { return name + ":" + rest }
    let slashed = rest.replacing("\\", with: "/")
    guard slashed.hasPrefix("//") else { return slashed.hasPrefix("/") ? origin.description + slashed : written }
    rest = slashed.drop { $0 == "/" }
    let authority = rest.prefix { $0 != "/" }
    var host = authority.split(separator: "@", omittingEmptySubsequences: false).last.map { $0.lowercased() } ?? ""
    let standard = name == "https" ? ":443" : ":80"
    if host.hasSuffix(standard) { host.removeLast(standard.count) }
    return "\(name)://\(host)\(rest.dropFirst(authority.count))"
  }

  private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }

  private static func base(of location: some StringProtocol) -> String {
    String(location.prefix { $0 != "?" && $0 != "#" })
  }
}
