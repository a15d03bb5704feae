public import HTTP
public import LegacyServer

/// A browser's cookies, stored by host and port. Real browsers send a cookie to every port of a host. Here the port
/// counts, so that a test can find out which server set a cookie.
///
/// The jar supports names, values and removal by `Max-Age=0`. It ignores all other attributes of `Set-Cookie`, because
/// they do not matter for a sign-in of a few minutes.
public struct CookieJar: Sendable {
  private struct Cookie: Sendable {
    var name: String
    var value: String
  }

  private var cookies: [String: [Cookie]] = [:]

  /// Creates an empty jar.
  public init() {}

  /// Returns the value of the `Cookie` field for a request to this address; `nil` if the jar has no cookie for it.
  public func field(for address: WebAddress) -> String? {
    guard let stored = cookies[address.authority], !stored.isEmpty else { return nil }
    return stored.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  /// Applies the `Set-Cookie` fields of a response.
  public mutating func store(_ headers: Headers, from address: WebAddress) {
    for field in headers.all("Set-Cookie") {
      let parts = field.split(separator: ";", omittingEmptySubsequences: false)
      guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { continue }
      let name = String(pair[..<equals])
      let isRemoval = parts.dropFirst().contains { $0.drop { $0 == " " }.lowercased() == "max-age=0" }
      var kept = cookies[address.authority, default: []].filter { $0.name != name }
      if !isRemoval { kept.append(Cookie(name: name, value: String(pair[pair.index(after: equals)...]))) }
      cookies[address.authority] = kept
    }
  }

  /// Returns the value of a cookie; `nil` if the jar does not have it.
  public func value(of name: String, at address: WebAddress) -> String? {
    cookies[address.authority]?.first { $0.name == name }?.value
  }

  /// Removes the cookies of all addresses.
  public mutating func removeAll() {
    cookies = [:]
  }
}
