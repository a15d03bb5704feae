/// The reason why a text is not the URL of a Redis server.
public enum RedisURLError: Error, Hashable, Sendable {
  /// The text does not begin with a scheme that `RedisSettings.init(url:)` accepts, or lacks the `//` after the scheme.
  case scheme
  /// The URL contains a password, which must be in a file.
  case password
  /// A part of the URL, such as the host, the port or the database number, is missing or invalid. The text describes
  /// the problem and follows "has" in a message, such as `no host name or address`.
  case invalidPart(String)

  /// The reason, as the end of a sentence that begins with the URL.
  public var text: String {
    switch self {
    case .scheme:
      "has none of the schemes `redis://`, `rediss://`, `redis+sentinel://`, `rediss+sentinel://` and `redis+unix:`"
    case .password: "contains a password; name its file with `store_password`"
    case .invalidPart(let problem): "has \(problem)"
    }
  }
}

extension RedisSettings {
  /// Parses a URL. Throws the first problem.
  ///
  ///     redis://[USER@]HOST[:PORT][/DB]                           rediss:// with TLS
  ///     redis+sentinel://[USER@]HOST[:PORT],.../NAME[/DB]         rediss+sentinel:// with TLS
  ///     redis+unix:[//USER@]/PATH[?db=DB]
  public init(url: String) throws(RedisURLError) {
    guard let colon = url.firstIndex(of: ":") else { throw .scheme }
    let rest = url[url.index(after: colon)...]
    switch url[..<colon] {
    case "redis": self = try RedisSettings.server(rest)
    case "redis+sentinel": self = try RedisSettings.sentinels(rest)
    case "redis+unix": self = try RedisSettings.socket(rest)
    case "rediss":
      self = try RedisSettings.server(rest)
      usesTLS = true
    case "rediss+sentinel":
      self = try RedisSettings.sentinels(rest)
      usesTLS = true
    default: throw .scheme
    }
  }

  private static func server(_ rest: Substring) throws(RedisURLError) -> RedisSettings {
    let (user, authority, path) = try split(rest)
    guard path.count <= 1 else { throw .invalidPart("a path that is not a database number") }
    var settings = RedisSettings(.server(try address(authority, defaultPort)))
    settings.user = user
    settings.database = try database(path.first ?? "")
    return settings
  }

  private static func sentinels(_ rest: Substring) throws(RedisURLError) -> RedisSettings {
    let (user, authority, path) = try split(rest)
    guard let name = path.first, !name.isEmpty, path.count <= 2,
      name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") && $0 != UInt8(ascii: "?") })
    else { throw .invalidPart("no name of the primary after the sentinels") }
    var addresses: [SocketAddress] = []
    for text in authority.split(separator: ",", omittingEmptySubsequences: false) {
      addresses.append(try address(text, defaultSentinelPort))
    }
    var settings = RedisSettings(.sentinels(addresses, primary: String(name)))
    settings.user = user
    settings.database = try database(path.count == 2 ? path[1] : "")
    return settings
  }

  private static func socket(_ rest: Substring) throws(RedisURLError) -> RedisSettings {
    var path = rest
    var user: String?
    if rest.hasPrefix("//") {
      let authority = rest.dropFirst(2).prefix { $0 != "/" }
      path = rest.dropFirst(2 + authority.count)
      guard authority.isEmpty || authority.hasSuffix("@") else {
        throw .invalidPart("a host, but a Unix socket has none")
      }
      if !authority.isEmpty { user = try self.user(authority.dropLast()) }
    }
    var number = ""[...]
    if let mark = path.firstIndex(of: "?") {
      let query = path[path.index(after: mark)...]
      guard query.hasPrefix("db=") else { throw .invalidPart("a query that is not `db=` and a number") }
      number = query.dropFirst(3)
      path = path[..<mark]
      guard !number.isEmpty else { throw .invalidPart("no database number after `db=`") }
    }
    // The kernel permits 108 bytes, which include a zero byte at the end (unix(7)).
    guard path.hasPrefix("/"), path.utf8.count > 1, path.utf8.count < 108, !path.utf8.contains(0) else {
      throw .invalidPart("no absolute path of at most 107 bytes")
    }
    var settings = RedisSettings(.socket(path: String(path)))
    settings.user = user
    settings.database = try database(number)
    return settings
  }

  /// Splits the text after the scheme. `authority` is the part with the hosts and ports, without the user, and `path`
  /// has the segments of the path.
  private static func split(
    _ rest: Substring
  ) throws(RedisURLError) -> (user: String?, authority: Substring, path: [Substring]) {
    guard rest.hasPrefix("//") else { throw .scheme }
    let text = rest.dropFirst(2)
    var authority = text.prefix { $0 != "/" }
    let path = text.dropFirst(authority.count).dropFirst()
    var user: String?
    if let mark = authority.lastIndex(of: "@") {
      user = try self.user(authority[..<mark])
      authority = authority[authority.index(after: mark)...]
    }
    return (user, authority, path.isEmpty ? [] : path.split(separator: "/", omittingEmptySubsequences: false))
  }

  private static func user(_ text: Substring) throws(RedisURLError) -> String {
    if text.contains(":") { throw .password }
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "%") }) else {
      throw .invalidPart("a user name that is empty or contains spaces, percent signs or other than ASCII characters")
    }
    return String(text)
  }

  private static func address(_ text: Substring, _ defaultPort: Int) throws(RedisURLError) -> SocketAddress {
    var host = text
    var digits: Substring?
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { throw .invalidPart("an IPv6 address without its bracket") }
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else {
        throw .invalidPart("characters after the bracket of the address")
      }
      digits = rest.isEmpty ? nil : rest.dropFirst()
      guard host.contains(":"),
        host.utf8.allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
      else { throw .invalidPart("no IPv6 address in its brackets") }
    } else {
      if let colon = text.firstIndex(of: ":") {
        host = text[..<colon]
        digits = text[text.index(after: colon)...]
      }
      guard !host.isEmpty, host.utf8.count <= 253, host.utf8.allSatisfy(isHostCharacter) else {
        throw .invalidPart("no host name or address")
      }
    }
    guard let digits else { return SocketAddress(host: String(host), port: defaultPort) }
    guard let port = number(digits), (1...65_535).contains(port) else { throw .invalidPart("no port from 1 to 65535") }
    return SocketAddress(host: String(host), port: port)
  }

  private static func database(_ text: Substring) throws(RedisURLError) -> Int {
    if text.isEmpty { return 0 }
    guard let number = number(text), number < 1_000_000 else { throw .invalidPart("no database number after the host") }
    return number
  }

  /// Returns the value of decimal digits; `nil` for other texts and for numbers with leading zeros.
  private static func number(_ text: Substring) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), text == "0" || !text.hasPrefix("0") else {
      return nil
    }
    return Int(text)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
