import Policy

/// An absolute http or https URL in the restricted form that a policy permits: without userinfo, query and fragment,
/// and with a lower-case host name.
struct URLText {
  enum Problem: Error {
    case scheme
    case userinfo
    case host
    case port
    case query
    case fragment
    case characters

    /// The problem in words. In a message, they follow "it", which refers to the URL.
    var text: String {
      switch self {
      case .scheme: "must begin with `https://` or `http://`"
      case .userinfo: "must not contain `@`"
      case .host: "has no valid host; use a lower-case name or an address literal"
      case .port: "has no valid port; use 1 to 65535"
      case .query: "must not have a query; remove it from the `?` on"
      case .fragment: "must not have a fragment; remove it from the `#` on"
      case .characters: "has characters that a URL cannot have"
      }
    }
  }

  let origin: Origin
  /// The path, which begins with a slash; empty if there is no path.
  let path: String

  init(parsing text: String) throws(Problem) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }) else { throw .characters }
    let scheme: Origin.Scheme
    let rest: Substring
    if text.hasPrefix("https://") {
      (scheme, rest) = (.https, text.dropFirst(8))
    } else if text.hasPrefix("http://") {
      (scheme, rest) = (.http, text.dropFirst(7))
    } else {
      throw .scheme
    }
    guard !rest.contains("#") else { throw .fragment }
    guard !rest.contains("?") else { throw .query }
    let authority = rest.prefix { $0 != "/" }
    guard !authority.contains("@") else { throw .userinfo }
    let host = try Self.host(authority)
    let port = try Self.port(authority)
    origin = Origin(scheme: scheme, host: host, port: port)
    path = String(rest.dropFirst(authority.count))
  }

  private static func host(_ authority: Substring) throws(Problem) -> String {
    if authority.hasPrefix("[") {
      let literal = authority.dropFirst().prefix { $0 != "]" }
      guard authority.dropFirst(literal.count + 1).hasPrefix("]"), AddressText.parseIPv6(literal) != nil else {
        throw .host
      }
      return String(literal).lowercased()
    }
    let name = authority.prefix { $0 != ":" }
    guard isHostName(name) else { throw .host }
    return String(name)
  }

  private static func port(_ authority: Substring) throws(Problem) -> Int? {
    let afterHost =
      authority.hasPrefix("[") ? authority.drop { $0 != "]" }.dropFirst() : authority.drop { $0 != ":" }
    guard !afterHost.isEmpty else { return nil }
    let digits = afterHost.dropFirst()
    guard afterHost.hasPrefix(":"), AddressText.isCanonicalNumber(digits), let port = Int(digits),
      (1...65_535).contains(port)
    else { throw .port }
    return port
  }

  /// Returns true for a host name whose labels consist of lower-case letters, digits, hyphens and underscores. (Names
  /// of containers may have underscores.) A name whose last label begins with a digit must be a dotted quad, because
  /// resolvers interpret a name such as `1.2.3` as an IPv4 address.
  static func isHostName(_ name: some StringProtocol) -> Bool {
    guard (1...253).contains(name.utf8.count) else { return false }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    for label in labels {
      let bytes = label.utf8
      let isValid = bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "_"):
          true
        default: false
        }
      }
      guard isValid, (1...63).contains(bytes.count), !label.hasPrefix("-"), !label.hasSuffix("-")
      else { return false }
    }
    guard let last = labels.last?.utf8.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last) else {
      return true
    }
    return AddressText.parseIPv4(name) != nil
  }
}
