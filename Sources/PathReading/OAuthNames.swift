internal import ByteText

/// The parameters by which the gateway recognises an OAuth request on any path.
public struct OAuthNames: OptionSet, Sendable {
  /// A bit for each parameter.
  public private(set) var rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  static let responseType = OAuthNames(rawValue: 1)
  static let clientID = OAuthNames(rawValue: 2)
  static let grantType = OAuthNames(rawValue: 4)

  /// True if the parameters are those of an authorization request or of a token request (RFC 6749, sections 4.1.1 and
  /// 4.1.3).
  public var isRequest: Bool { contains(.grantType) || isSuperset(of: [.responseType, .clientID]) }

  private static let all: [(OAuthNames, String)] = [
    (.responseType, "response_type"), (.clientID, "client_id"), (.grantType, "grant_type"),
  ]

  /// Creates a set of the parameter with this name, in upper or lower case; the set is empty for any other name.
  init(plain name: Span<UInt8>) {
    self = []
    // Few other names have these lengths, so most names need no further comparison.
    guard name.count == 13 || name.count == 9 || name.count == 10 else { return }
    for (parameter, text) in OAuthNames.all where text.utf8.span.isEqualIgnoringCase(to: name) { self = parameter }
  }

  /// Creates the set of the parameters in a query or a form, under every name that some server reads as theirs.
  public init(form: [UInt8]) {
    self = []
    // In UTF-16, each letter of these names is next to a zero byte.
    for pair in form.filter({ $0 != 0 }).split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }) {
      let name = FrontControllerQuery.name(pair.prefix { $0 != UInt8(ascii: "=") })
      formUnion(OAuthNames(plain: name.utf8.span))
    }
  }

  /// Creates the set of the parameters in a multipart form (RFC 7578, section 4.2). Their names are the values of
  /// `name=`, quoted or not.
  public init(multipart: [UInt8]) {
    self = []
    let bytes = multipart.filter { $0 != 0 }.map(\.lowercasedASCII)
    var rest = bytes[...]
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let isName = rest[..<equals].reversed().drop { $0.isBlank }.starts(with: "eman".utf8)
      rest = rest[(equals + 1)...]
      guard isName else { continue }
      let value = rest.prefix(OAuthNames.longestValue).drop { $0.isBlank || OAuthNames.isQuote($0) }
      let name = value.prefix { !OAuthNames.isQuote($0) && $0 != UInt8(ascii: ";") && $0 >= 0x20 }
      formUnion(OAuthNames(plain: FrontControllerQuery.name(name).utf8.span))
    }
  }

  /// The maximum length of a value in bytes. The longest of the names, with every character escaped, is shorter.
  private static let longestValue = 64

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
}
