import OAuth

/// Input: a query or the body of a form; the text before a first line feed is a media type, and the query of a redirect
/// URI. Parsing and serialising neither loses nor adds a parameter.
enum FormTarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    let type = input.prefix { $0 != 0x0a }
    let body = type.count < input.count ? Array(input[(type.count + 1)...]) : input
    if !FieldReader.hasSecondReading(Array(type)) { try checkType(Array(type)) }
    try checkBasic(String(decoding: type, as: UTF8.self))
    try checkSentQuery(Array(type), body)
    guard let parameters = FormParameters(parsing: body) else {
      try Violation.unless(body.count > FormParameters.maximumCount, "few parameters are too many")
      return
    }
    let expected = read(body)
    try Violation.unless(parameters.entries == expected.entries, "the parameters are read in two ways")
    try Violation.unless(
      parameters.hasMalformedName == expected.hasMalformedName
        && parameters.namesWithMalformedValue == expected.malformed,
      "what is malformed is read in two ways")
    guard let again = FormParameters(parsing: parameters.serialised) else {
      throw Violation("what is written is refused")
    }
    try Violation.unless(again.entries == parameters.entries, "what is written is read in another way")
    try Violation.unless(
      again.namesWithMalformedValue.isEmpty && !again.hasMalformedName && again.serialised == parameters.serialised,
      "what is written is not canonical")
    try checkSpellings(parameters, body)
  }

  /// A query keeps that of a redirect URI if its pairs with the names of that query are exactly the sent ones.
  private static func checkSentQuery(_ sent: [UInt8], _ query: [UInt8]) throws(Violation) {
    func name(_ pair: ArraySlice<UInt8>) -> [UInt8] {
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      return decoded(name).map { Array($0.utf8) } ?? Array(name)
    }
    let pairs = sent.split(separator: UInt8(ascii: "&"))
    let names = Set(pairs.map(name))
    let found = query.split(separator: UInt8(ascii: "&")).filter { names.contains(name($0)) }
    let isKept = pairs.sorted { $0.lexicographicallyPrecedes($1) } == found.sorted { $0.lexicographicallyPrecedes($1) }
    try Violation.unless(
      SentQuery(sent.span).isKept(in: query.span) == isKept, "the query of a redirect URI is compared in two ways")
  }

  private struct ParameterValue {
    var entries: [FormParameters.Entry] = []
    var malformed: [String] = []
    var hasMalformedName = false
  }

  private static func read(_ body: [UInt8]) -> ParameterValue {
    var reading = ParameterValue()
    for pair in body.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decoded(halves[0]) else {
        reading.hasMalformedName = true
        continue
      }
      let value = halves.count > 1 ? decoded(halves[1]) : ""
      if let value, !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
        reading.entries.append(FormParameters.Entry(name, value))
      } else {
        reading.malformed.append(name)
      }
    }
    return reading
  }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    var decoded: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%") {
        guard let high = rest.popFirst(), let low = rest.popFirst(),
          let value = Int(String(decoding: [high, low], as: UTF8.self), radix: 16),
          high != UInt8(ascii: "+"), high != UInt8(ascii: "-")
        else { return nil }
        decoded.append(UInt8(value))
      } else {
        decoded.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }

  /// A name that PHP, a C string or another separator changes into a parameter's name is recognised.
  private static func checkSpellings(_ parameters: FormParameters, _ body: [UInt8]) throws(Violation) {
    let known = ParameterNames.atAuthorization
    guard parameters.alternativeSpelling(of: known) == nil else { return }
    for name in parameters.entries.map(\.name) where !known.contains(ParameterName(name)) {
      let text = name.utf8.prefix { $0 != 0 && $0 != UInt8(ascii: "[") }.drop { $0 == 0x20 }
      let php = String(
        decoding: text.map { $0 == UInt8(ascii: ".") || $0 == 0x20 ? UInt8(ascii: "_") : $0 }, as: UTF8.self)
      try Violation.unless(!known.contains(ParameterName(php)), "another spelling of a parameter is not recognised")
      let lower = ParameterName(name.lowercased())
      try Violation.unless(!known.contains(lower), "a parameter in another case is not recognised")
    }
    for pair in body.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }) {
      // A parameter without a value counts as omitted.
      let encodedName = pair.prefix { $0 != UInt8(ascii: "=") }
      guard pair.count > encodedName.count + 1, let name = decoded(encodedName), let parameter = ParameterName(name),
        known.contains(parameter)
      else { continue }
      try Violation.unless(parameters.contains(parameter), "a parameter behind a semicolon is not recognised")
    }
  }

  /// The type of a form has no parameter other than the charset UTF-8, so that every reader decodes a form in the same
  /// way.
  private static func checkType(_ type: [UInt8]) throws(Violation) {
    guard FormContent.isForm(types: [String(decoding: type, as: UTF8.self)], encodings: []) else { return }
    let parts = FieldReader.parts(type, at: ";").map { String(decoding: $0, as: UTF8.self).lowercased() }
    try Violation.unless(parts.first == "application/x-www-form-urlencoded", "another type is taken for a form")
    for part in parts.dropFirst() where !part.isEmpty {
      try Violation.unless(["charset=utf-8", "charset=\"utf-8\""].contains(part), "a form with another parameter")
    }
  }

  private static func checkBasic(_ header: String) throws(Violation) {
    guard let credentials = try? BasicCredentials(parsing: header) else { return }
    guard let again = try? BasicCredentials(parsing: credentials.header.reveal()) else {
      throw Violation("credentials that are written are refused")
    }
    try Violation.unless(
      again.user == credentials.user && again.password.reveal() == credentials.password.reveal(),
      "credentials that are written are read in another way")
  }
}
