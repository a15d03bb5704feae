internal import ByteText

/// The parameters by which the gateway recognises an OAuth request on any path: `response_type`, `client_id` and
/// `grant_type`.
public struct OAuthNames: OptionSet, Sendable {
  /// The parameters, one bit for each.
  public private(set) var rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  static let responseType = OAuthNames(rawValue: 1)
  static let clientID = OAuthNames(rawValue: 2)
  static let grantType = OAuthNames(rawValue: 4)

  /// True if the set contains the parameters of an authorization request or of a token request (RFC 6749, sections
  /// 4.1.1 and 4.1.3).
  public var indicateOAuthRequest: Bool { contains(.grantType) || isSuperset(of: [.responseType, .clientID]) }

  private static let all: [(OAuthNames, String)] = [
    (.responseType, "response_type"), (.clientID, "client_id"), (.grantType, "grant_type"),
  ]

  /// Creates the set that contains the parameter with this decoded name, in upper or lower case; the set is empty for
  /// any other name.
  init(decodedName name: Span<UInt8>) {
    self = []
    // The lengths of the three names. Few other names have these lengths, so most names need no further comparison.
    guard name.count == 13 || name.count == 9 || name.count == 10 else { return }
    for (parameter, text) in OAuthNames.all where text.utf8.span.isEqualIgnoringCase(to: name) { self = parameter }
  }

  /// Creates the set of the parameters in a query or a form, in every spelling of their names that some server accepts.
  public init(form: Span<UInt8>) {
    self = []
    // Zero bytes are removed, because in UTF-16 each letter of these names has a zero byte.
    let form = [UInt8](copying: form).filter { $0 != 0 }
    var start = 0
    while start < form.count {
      let isEnd = { (byte: UInt8) in byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";") }
      let end = form[start...].firstIndex(where: isEnd) ?? form.count
      let name = form[start..<end].prefix { $0 != UInt8(ascii: "=") }
      start = end + 1
      // A name that is plain has only one reading. Most names are.
      if name.allSatisfy(FrontControllerQuery.isPlain) {
        formUnion(OAuthNames(decodedName: name.span))
      } else {
        formUnion(OAuthNames(decodedName: FrontControllerQuery.lenientName(name).span))
      }
    }
  }

  /// Creates the set of the parameters in a multipart form (RFC 7578, section 4.2). A name is the value of `name=`,
  /// with or without quotation marks.
  public init(multipart: [UInt8]) {
    self = []
    let bytes = multipart.filter { $0 != 0 }.map(\.lowercasedASCII)
    var rest = bytes[...]
    var decodedBytes = 0
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      // `name`, read backwards from the equals sign.
      let isName = rest[..<equals].reversed().drop { $0.isBlank }.starts(with: "eman".utf8)
      rest = rest[(equals + 1)...]
      guard isName else { continue }
      let value = rest.prefix(OAuthNames.examinedLength).drop { $0.isBlank || OAuthNames.isQuote($0) }
      let name = value.prefix { !OAuthNames.isQuote($0) && $0 != UInt8(ascii: ";") && $0 >= 0x20 }
      if name.allSatisfy(FrontControllerQuery.isPlain) {
        formUnion(OAuthNames(decodedName: name.span))
        continue
      }
      // One long value may be examined for many names, each a few bytes behind the last one.
      decodedBytes += name.count
      guard decodedBytes <= bytes.count else {
        self = [.responseType, .clientID, .grantType]
        return
      }
      formUnion(OAuthNames(decodedName: FrontControllerQuery.lenientName(name).span))
    }
  }

  /// The number of bytes of a value that are examined. The longest of the names is shorter, even if every character is
  /// written as `%uXXXX`.
  private static let examinedLength = 96

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
}
