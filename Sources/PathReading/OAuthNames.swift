internal import ByteText

/// The parameters by which the gateway recognises an OAuth request on any path.
public struct OAuthNames: OptionSet, Sendable {
  /// The parameters, one bit for each.
  public private(set) var rawValue: UInt8

  /// Creates a set from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  static let responseType = OAuthNames(rawValue: 1)
  static let clientID = OAuthNames(rawValue: 2)
  static let grantType = OAuthNames(rawValue: 4)
  static let redirectURI = OAuthNames(rawValue: 8)
  static let request = OAuthNames(rawValue: 16)
  static let requestURI = OAuthNames(rawValue: 32)

  /// True if the set contains the parameters of an authorization request (RFC 6749, section 4.1.1; RFC 9101, section 5) or
  /// of a token request (RFC 6749, section 4.1.3).
  public var indicateOAuthRequest: Bool {
    contains(.grantType) || contains(.clientID) && !isDisjoint(with: [.responseType, .request, .requestURI])
  }

  /// The same for the parameters of a query. Some servers accept an authorization request without `response_type`. A form
  /// with the other two parameters is often that of a login page, and JSON with them the description of a client.
  var indicateOAuthQuery: Bool { indicateOAuthRequest || isSuperset(of: [.clientID, .redirectURI]) }

  /// Creates the set that contains the parameter with this decoded name, in upper or lower case; the set is empty for
  /// any other name.
  init(decodedName name: Span<UInt8>) {
    // Few other names have these lengths, so most names need no further comparison.
    self = name.count < 14 && OAuthNames.lengths & 1 &<< name.count != 0 ? OAuthNames(nameOfKnownLength: name) : []
  }

  /// A bit for the length of each name.
  private static let lengths = 1 << 7 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13

  /// Not inlined, so that the check of a query stays small.
  @inline(never)
  private init(nameOfKnownLength name: Span<UInt8>) {
    let (parameter, text): (OAuthNames, String)
    switch name.count {
    case 7: (parameter, text) = (.request, "request")
    case 9: (parameter, text) = (.clientID, "client_id")
    case 10: (parameter, text) = (.grantType, "grant_type")
    case 11: (parameter, text) = (.requestURI, "request_uri")
    case 12: (parameter, text) = (.redirectURI, "redirect_uri")
    default: (parameter, text) = (.responseType, "response_type")
    }
    self = text.utf8.span.isEqualIgnoringCase(to: name) ? parameter : []
  }

  private static let all: OAuthNames = [.responseType, .clientID, .grantType, .redirectURI, .request, .requestURI]

  /// Creates the set of the parameters in a query or a form, in every spelling of their names that some server accepts.
  public init(form: Span<UInt8>) {
    if form.contains(0) {
      let form = OAuthNames.withoutZeros(form)
      self.init(formWithoutZeros: form.span)
    } else {
      self.init(formWithoutZeros: form)
    }
  }

  /// Returns the bytes without zero bytes, because in UTF-16 each letter of these names has one.
  private static func withoutZeros(_ bytes: Span<UInt8>) -> [UInt8] {
    var others: [UInt8] = []
    others.append(addingCapacity: bytes.count) { output in
      for index in bytes.indices where bytes[index] != 0 { output.append(bytes[index]) }
    }
    return others
  }

  private init(formWithoutZeros bytes: Span<UInt8>) {
    self = []
    var decoder = NameDecoder()
    var start = 0
    while start < bytes.count {
      var end = start
      var isPlain = true
      while end < bytes.count, !OAuthNames.endsName(bytes[end]) {
        if !FrontControllerQuery.isPlain(bytes[end]) { isPlain = false }
        end &+= 1
      }
      // A name that is plain has only one reading. Most names are.
      formUnion(
        isPlain
          ? OAuthNames(decodedName: bytes.extracting(start..<end)) : decoder.names(of: bytes.extracting(start..<end)))
      while end < bytes.count, !OAuthNames.endsPair(bytes[end]) { end &+= 1 }
      start = end &+ 1
    }
  }

  private static func endsPair(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";") }
  private static func endsName(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "=") || endsPair(byte) }

  /// Decodes names that are not plain.
  private struct NameDecoder {
    /// The number of further names, or of groups of 16 bytes in them, that may be decoded in every way: more than a form has
    /// outside of ASCII.
    private var left = NameDecoder.limit
    private static let limit = 512
    private var previous: [UInt8] = []
    /// The decoded name.
    private var text: [UInt8] = []
    /// The numbers of bytes of the shortest and longest parameter names. Decoding makes no name longer.
    private static let shortestName = 7
    private static let longestName = 13

    /// Returns the set for one name; all parameters if there were too many names.
    mutating func names(of name: Span<UInt8>) -> OAuthNames {
      // Readers of queries also read a form behind question marks.
      var start = 0
      while start < name.count, name[start] == UInt8(ascii: "?") { start += 1 }
      let name = name.extracting(start...)
      guard name.count >= NameDecoder.shortestName else { return [] }
      switch decodesOnce(name) {
      case true?: return OAuthNames(decodedName: text.span)
      case false?: return []
      case nil: break
      }
      let cost = 1 + name.count / 16
      guard cost <= NameDecoder.limit else { return .all }
      guard !name.isEqual(to: previous.span) else { return [] }
      previous = [UInt8](copying: name)
      left -= cost
      return left < 0
        ? .all : NameDecoder.names(inFrontOfBracket: FrontControllerQuery.lenientName(previous[...]).span)
    }

    /// Returns the set for a name in which a bracket is an underscore, as in PHP, or begins the index of an array.
    private static func names(inFrontOfBracket name: Span<UInt8>) -> OAuthNames {
      var names = OAuthNames(decodedName: name)
      for end in shortestName...longestName where end < name.count && name[end] == UInt8(ascii: "_") {
        names.formUnion(OAuthNames(decodedName: name.extracting(0..<end)))
      }
      return names
    }

    /// Decodes a name of ASCII that is encoded once, like `FrontControllerQuery.lenientName`, but without an allocation.
    /// Returns false if the name is longer than each parameter, and `nil` if it has to be decoded in other ways.
    private mutating func decodesOnce(_ bytes: Span<UInt8>) -> Bool? {
      text.removeAll(keepingCapacity: true)
      var index = 0
      while index < bytes.count {
        var byte = bytes[index]
        index &+= 1
        if byte == UInt8(ascii: "+") { byte = UInt8(ascii: " ") }
        if byte == UInt8(ascii: "%") {
          guard index &+ 1 < bytes.count, let high = bytes[index].hexadecimalValue,
            let low = bytes[index &+ 1].hexadecimalValue
          else { return nil }
          byte = high << 4 | low
          index &+= 2
          if byte == UInt8(ascii: "%") { return nil }
        }
        if byte >= 0x80 { return nil }
        if byte <= 0x20, text.isEmpty { continue }
        if byte < 0x20 { return true }
        // The name of an array.
        if byte == UInt8(ascii: "["), !OAuthNames(decodedName: text.span).isEmpty { return true }
        let isUnderscore = byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "[")
        text.append(isUnderscore ? UInt8(ascii: "_") : byte.lowercasedASCII)
        if text.count > NameDecoder.longestName { return false }
      }
      return true
    }
  }

  /// Returns the parameter that some server may read in a cookie with this name, in any spelling; `nil` for any other
  /// cookie. PHP without a `request_order`, classic ASP and Zope read cookies like parameters.
  ///
  /// Called for each cookie of each request, so nearly all names end at their first byte or their length.
  public static func parameter(inCookie name: Span<UInt8>) -> String? {
    guard !name.isEmpty else { return nil }
    let names: OAuthNames
    if FrontControllerQuery.endOfName(in: name, from: 0) == name.count {
      names = OAuthNames(decodedName: name)
    } else {
      let first = name[0].lowercasedASCII
      // No spelling of a parameter begins with another letter or digit, with an underscore or with a period.
      let isOther = FrontControllerQuery.isPlain(first) || first == UInt8(ascii: ".")
      guard !isOther || OAuthNames.inCookies.contains(where: { $0.text.utf8.first == first }) else { return nil }
      let examined = [UInt8](copying: name.extracting(first: OAuthNames.examinedLength))
      // Few servers decode the name of a cookie, and a proxy in front of them may decode it once more.
      names = OAuthNames(decodedName: FrontControllerQuery.lenientName(examined[...], rounds: 2).span)
    }
    return names.isEmpty ? nil : OAuthNames.inCookies.first { names.contains($0.parameter) }?.text
  }

  /// The parameters that no server uses as the name of a cookie of its own.
  private static let inCookies: [(parameter: OAuthNames, text: String)] = [
    (.responseType, "response_type"), (.clientID, "client_id"), (.grantType, "grant_type"),
  ]

  /// Creates the set of the parameters in a multipart form (RFC 7578, section 4.2). A name is the value of `name=`,
  /// with or without quotation marks.
  public init(multipart: Span<UInt8>) {
    if multipart.contains(0) {
      let multipart = OAuthNames.withoutZeros(multipart)
      self.init(multipartWithoutZeros: multipart.span)
    } else {
      self.init(multipartWithoutZeros: multipart)
    }
  }

  private init(multipartWithoutZeros bytes: Span<UInt8>) {
    self = []
    var decoder = NameDecoder()
    // The byte behind the last equals sign.
    var start = 0
    while let equals = bytes.firstIndex(of: UInt8(ascii: "="), from: start) {
      var end = equals
      while end > start, bytes[end - 1].isBlank { end -= 1 }
      // `*` behind the name announces a character set, and a number the part of a value (RFC 2231, sections 3 and 4). No
      // client divides a name, so a part counts as each parameter.
      let extended = end
      var hasNumber = false
      while end > start, bytes[end - 1].isDigit || bytes[end - 1] == UInt8(ascii: "*") {
        end -= 1
        if bytes[end].isDigit { hasNumber = true }
      }
      let isExtended = end < extended && bytes[end] == UInt8(ascii: "*")
      if !isExtended { end = extended }
      while isExtended, end > start, bytes[end - 1].isBlank { end -= 1 }
      let isName =
        end - start >= OAuthNames.nameOfName.utf8.count
        && bytes.extracting(end - OAuthNames.nameOfName.utf8.count..<end).isEqualIgnoringCase(
          to: OAuthNames.nameOfName.utf8.span)
      start = equals + 1
      guard isName else { continue }
      guard !isExtended || !hasNumber else {
        self = .all
        return
      }
      let limit = min(bytes.count, start + OAuthNames.examinedLength)
      var first = start
      // The character set and the language are in front of the name (RFC 8187, section 3.2.1).
      if isExtended {
        for _ in 0..<2 {
          if let mark = bytes.extracting(0..<limit).firstIndex(of: UInt8(ascii: "'"), from: first) { first = mark + 1 }
        }
      }
      while first < limit, bytes[first].isBlank || OAuthNames.isQuote(bytes[first]) { first += 1 }
      var last = first
      while last < limit, !OAuthNames.isQuote(bytes[last]), bytes[last] != UInt8(ascii: ";"), bytes[last] >= 0x20 {
        last += 1
      }
      let name = bytes.extracting(first..<last)
      formUnion(
        name.allSatisfy(FrontControllerQuery.isPlain) ? OAuthNames(decodedName: name) : decoder.names(of: name))
    }
  }

  /// The parameter of `Content-Disposition` that names a part.
  private static let nameOfName = "name"

  /// Creates the set of the members of a JSON object (RFC 8259). Lenient readers accept names in single quotation marks and
  /// without any. The names of objects in it do not count.
  public init(json: Span<UInt8>) {
    if json.contains(0) {
      let json = OAuthNames.withoutZeros(json)
      self.init(jsonWithoutZeros: json.span)
    } else {
      self.init(jsonWithoutZeros: json)
    }
  }

  private init(jsonWithoutZeros bytes: Span<UInt8>) {
    self = []
    var decoder = NameDecoder()
    var depth = 0
    // The last name or word of the outermost object.
    var name: Range<Int>?
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      switch byte {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: ","): name = nil
      // Comments, which some readers ignore.
      case UInt8(ascii: "#"): index = OAuthNames.endOfLine(bytes, from: index)
      case UInt8(ascii: "/") where index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "/"):
        index = OAuthNames.endOfLine(bytes, from: index)
      case UInt8(ascii: "/") where index + 1 < bytes.count && bytes[index + 1] == UInt8(ascii: "*"):
        index += 3
        while index < bytes.count, bytes[index] != UInt8(ascii: "/") || bytes[index - 1] != UInt8(ascii: "*") {
          index += 1
        }
      case UInt8(ascii: ":"):
        if depth == 1, let name {
          let name = bytes.extracting(name)
          if name.contains(UInt8(ascii: "\\")) {
            let encoded = OAuthNames.percentEncoded(name)
            formUnion(decoder.names(of: encoded.span))
          } else {
            formUnion(OAuthNames(decodedName: name))
          }
        }
        name = nil
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        var end = index + 1
        while end < bytes.count, bytes[end] != byte { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        name = index + 1..<min(end, bytes.count)
        index = end
      case _ where FrontControllerQuery.isPlain(byte):
        var end = index + 1
        while end < bytes.count, FrontControllerQuery.isPlain(bytes[end]) { end += 1 }
        name = index..<end
        index = end - 1
      default: break
      }
      index += 1
    }
  }

  /// Returns the index of the line end at or behind `start`; the number of bytes if there is none.
  private static func endOfLine(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != 0x0a, bytes[index] != 0x0d { index += 1 }
    return index
  }

  /// Writes `%XX` for each `\u00XX` of a name in JSON, and for each `\xXX` that some readers accept. No other escape is one
  /// of a letter or an underscore.
  private static func percentEncoded(_ bytes: Span<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      var length = 1
      if bytes[index] == UInt8(ascii: "\\"), index &+ 3 < bytes.count {
        if bytes[index &+ 1] == UInt8(ascii: "x") { length = 2 }
        if bytes[index &+ 1] == UInt8(ascii: "u"), bytes[index &+ 2] == UInt8(ascii: "0"),
          bytes[index &+ 3] == UInt8(ascii: "0")
        {
          length = 4
        }
      }
      result.append(length > 1 ? UInt8(ascii: "%") : bytes[index])
      index &+= length
    }
    return result
  }

  /// The number of bytes of a value that are examined. The longest of the names is shorter, even if every character is
  /// written as `%uXXXX`.
  private static let examinedLength = 96

  private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
}
