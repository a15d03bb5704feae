/// An http or https address, as far as a browser needs it.
public struct WebAddress: Sendable, Hashable, CustomStringConvertible {
  public var isSecure: Bool
  /// As in the address, with the brackets of an IPv6 literal.
  public var host: String
  public var port: Int
  /// Path and query.
  public var target: String

  public init(isSecure: Bool = false, host: String, port: Int, target: String = "/") {
    self.isSecure = isSecure
    self.host = host
    self.port = port
    self.target = target
  }

  /// `nil` when `text` is not an absolute http or https address, without user information.
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

  /// What the `Host` field says; cookies are kept by it.
  public var authority: String {
    port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
  }

  public var origin: String { "\(isSecure ? "https" : "http")://\(authority)" }
  public var description: String { origin + target }

  public var path: Substring { target.prefix { $0 != "?" } }

  /// The same server with another path and query.
  public func at(_ target: String) -> WebAddress {
    var address = self
    address.target = target
    return address
  }

  /// What `reference` on a page of this address leads to (RFC 3986, section 5.2): absolute addresses of any scheme stay
  /// as they are.
  public func resolving(_ reference: String) -> String {
    let head = reference.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if head.contains(":") { return reference }
    if reference.isEmpty { return description }
    if reference.hasPrefix("//") { return (isSecure ? "https:" : "http:") + reference }
    if reference.hasPrefix("/") { return origin + reference }
    if reference.hasPrefix("?") { return origin + path + reference }
    let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
    return origin + folder + reference
  }
}
