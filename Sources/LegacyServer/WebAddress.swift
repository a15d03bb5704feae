/// An http or https URL without user information and fragment.
public struct WebAddress: Sendable, Hashable, CustomStringConvertible {
  /// True for https.
  public var isSecure: Bool
  /// The host in lower case. An IPv6 address is in brackets.
  public var host: String
  /// The TCP port, by default that of the scheme.
  public var port: Int
  /// The path and query.
  public var target: String

  /// Creates an address from its parts.
  public init(isSecure: Bool = false, host: String, port: Int, target: String = "/") {
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.target = target
  }

  /// Parses an absolute http or https URL and drops its fragment. Returns `nil` for any other text and for a URL with
  /// user information.
  public init?(_ text: String) {
    let isSecure = text.hasPrefix("https://")
    guard isSecure || text.hasPrefix("http://") else { return nil }
    let rest = text.dropFirst(isSecure ? 8 : 7)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.isEmpty, !authority.contains("@") else { return nil }
    let target = rest.dropFirst(authority.count).prefix { $0 != "#" }
    var host = authority
    var port = isSecure ? 443 : 80
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      guard let number = UInt16(authority[authority.index(after: colon)...]) else { return nil }
      host = authority[..<colon]
      port = Int(number)
    }
    guard !host.isEmpty else { return nil }
    self.init(
      isSecure: isSecure, host: host.lowercased(), port: port,
      target: target.hasPrefix("/") ? String(target) : "/" + target)
  }

  /// The host and the port, as in a `Host` field. The default port of the scheme is omitted.
  public var authority: String {
    port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
  }

  /// The scheme, host and port, e.g. `http://127.0.0.1:8080`. The default port of the scheme is omitted.
  public var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }
  /// The URL.
  public var description: String { origin + target }

  /// The path without the query.
  public var path: Substring { target.prefix { $0 != "?" } }

  /// Returns the address of the path and query `target` on the same server.
  public func at(_ target: String) -> WebAddress {
    var address = self
    address.target = target
    return address
  }

  /// Resolves a URI reference with this address as the base URI (RFC 3986, section 5.2), but keeps dot segments.
  /// Returns an absolute URL of any scheme unchanged.
  public func resolving(_ reference: String) -> String {
    let head = reference.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if head.contains(":") { return reference }
    if reference.isEmpty { return description }
    if reference.hasPrefix("//") { return (isSecure ? "https:" : "http:") + reference }
    if reference.hasPrefix("/") { return origin + reference }
    if reference.hasPrefix("?") { return origin + path + reference }
    let directory = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    return origin + directory + reference
  }
}
