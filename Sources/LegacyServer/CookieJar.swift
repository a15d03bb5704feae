public import HTTP

/// A browser's cookies: by host and port, which is stricter than browsers are, so that a test sees a cookie only where
/// it was set. Names, values and removal only; everything else in a `Set-Cookie` does not matter to a walk of minutes.
public struct CookieJar: Sendable {
  private struct Cookie: Sendable {
    var name: String
    var value: String
  }

  private var cookies: [String: [Cookie]] = [:]

  public init() {}

  /// The value of the `Cookie` field for this address; `nil` when there is none.
  public func field(for address: WebAddress) -> String? {
    guard let found = cookies[address.authority], !found.isEmpty else { return nil }
    return found.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  public mutating func store(_ headers: Headers, from address: WebAddress) {
    for field in headers.all("Set-Cookie") {
      let parts = field.split(separator: ";", omittingEmptySubsequences: false)
      guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { continue }
      let name = String(pair[..<equals])
      let isRemoval = parts.dropFirst().contains { CookieJar.trimmed($0).lowercased() == "max-age=0" }
      var kept = cookies[address.authority, default: []].filter { $0.name != name }
      if !isRemoval { kept.append(Cookie(name: name, value: String(pair[pair.index(after: equals)...]))) }
      cookies[address.authority] = kept
    }
  }

  /// The cookie's value, for tests that look at it.
  public func value(of name: String, at address: WebAddress) -> String? {
    cookies[address.authority]?.first { $0.name == name }?.value
  }

  public mutating func removeAll() {
    cookies = [:]
  }

  private static func trimmed(_ text: Substring) -> Substring {
    text.drop { $0 == " " }
  }
}
