internal import Bytes

/// The parameters that identify a request as an OAuth request, on any path.
public struct OAuthNames: OptionSet, Sendable {
  /// One bit per parameter.
  public private(set) var rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  static let responseType = OAuthNames(rawValue: 1)
  static let clientID = OAuthNames(rawValue: 2)
  static let grantType = OAuthNames(rawValue: 4)

  /// True for the parameters of an authorization request or a token request (RFC 6749, sections 4.1.1 and 4.1.3).
  public var isRequest: Bool { contains(.grantType) || isSuperset(of: [.responseType, .clientID]) }

  private static let all: [(OAuthNames, String)] = [
    (.responseType, "response_type"), (.clientID, "client_id"), (.grantType, "grant_type"),
  ]

  /// Creates the set of the parameter with this plain name, or the empty set; ignores case.
  init(plain name: Span<UInt8>) {
    self = []
    // Few other names have one of these lengths, so most names cost one comparison.
    guard name.count == 13 || name.count == 9 || name.count == 10 else { return }
    for (parameter, text) in OAuthNames.all where text.utf8.span.isEqualIgnoringCase(to: name) { self = parameter }
  }

  /// The parameters of a query or a form, under every name that some server reads as one of theirs.
  public init(form: [UInt8]) {
    self = []
    // In UTF-16, each letter has a zero byte before or after it.
    for pair in form.filter({ $0 != 0 }).split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }) {
      let name = FrontControllerQuery.name(pair.prefix { $0 != UInt8(ascii: "=") })
      formUnion(OAuthNames(plain: name.utf8.span))
    }
  }

  /// The parameters of a multipart form (RFC 7578, section 4.2): the values of `name=`, quoted or not.
  public init(multipart: [UInt8]) {
    self = []
    let bytes = multipart.filter { $0 != 0 }.map(CanonicalPath.lowercased)
    var rest = bytes[...]
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let isName = rest[..<equals].reversed().drop { $0 == 0x20 || $0 == 0x09 }.starts(with: "eman".utf8)
      rest = rest[(equals + 1)...]
      guard isName else { continue }
      let value = rest.prefix(OAuthNames.longestValue).drop { $0 == 0x20 || $0 == 0x09 || OAuthNames.isQuote($0) }
      let name = value.prefix { !OAuthNames.isQuote($0) && $0 != UInt8(ascii: ";") && $0 >= 0x20 }
      formUnion(OAuthNames(plain: FrontControllerQuery.name(name).utf8.span))
    }
  }

  /// The maximum length of a value: longer than the longest of the names with every character escaped.
  private static let longestValue = 64

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
}
