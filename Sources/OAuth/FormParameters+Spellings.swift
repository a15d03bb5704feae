internal import ByteText

/// Alternative spellings of a parameter. For example, some servers read `client_id[]`, `client.id`, `client[id`,
/// `Client_Id`, `client_id%00` or `a=b;client_id=c` as `client_id`, but the gateway does not. No client needs such a
/// spelling. An attacker could use it to make the gateway and the upstream read different values.
extension FormParameters {
  /// Returns a parameter of `known` that occurs in an alternative spelling; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - known: The parameters to search for.
  ///   - foldToASCII: Converts a name with characters outside ASCII to the ASCII text that some server would find equal
  ///     to the name, for example because the server ignores case by the rules of Unicode. `nil` to compare a name with
  ///     characters outside ASCII unchanged.
  ///   - afterSemicolons: False to ignore the names that only a server that separates parameters at semicolons would
  ///     find. A text such as `error_description` may contain semicolons.
  public func alternativeSpelling(
    of known: ParameterNames, foldToASCII: (([UInt8]) -> [UInt8])? = nil, afterSemicolons: Bool = true
  ) -> ParameterName? {
    // A name that equals a known parameter is not an alternative spelling of another one.
    for index in entries.indices where entries[index].parameter == nil {
      if let found = FormParameters.parameter(of: known, in: entries[index].name, foldToASCII) { return found }
    }
    for name in namesWithMalformedValue where !known.contains(ParameterName(name)) {
      if let found = FormParameters.parameter(of: known, in: name, foldToASCII) { return found }
    }
    for name in afterSemicolons ? namesAfterSemicolon : [] {
      if let found = FormParameters.parameter(of: known, in: name, foldToASCII) { return found }
    }
    return nil
  }

  /// Returns the parameter that the most lenient server reads in the name; `nil` if that is not one of `known`.
  private static func parameter(
    of known: ParameterNames, in name: String, _ foldToASCII: (([UInt8]) -> [UInt8])?
  ) -> ParameterName? {
    var decoded = FormParameters.decoded(name)
    if let foldToASCII, !decoded.span.isASCII { decoded = foldToASCII(decoded) }
    if let folded = FormParameters.folded(decoded), let parameter = ParameterName(folded), known.contains(parameter) {
      return parameter
    }
    guard decoded.contains(where: { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") }) else { return nil }
    // PHP replaces an unclosed bracket with an underscore, so `client[id` is `client_id`. Other servers remove the
    // brackets, or treat their content as part of the name. So only letters and digits are compared. A known parameter
    // of several words may be any part of the name. A known parameter of one word must be the whole name, because names
    // such as `address[state]` belong to unrelated forms.
    let found = ParameterWords.all.parameters(in: ParameterWords.lettersAndDigits(decoded)).intersection(known)
    return found.isEmpty ? nil : found.sorted.first
  }

  private static func decoded(_ name: String) -> [UInt8] {
    var bytes = Array(name.utf8)
    // Servers and proxies in front of them may decode a name that is already decoded. Two further decodings cover both.
    for _ in 0..<2 where bytes.contains(UInt8(ascii: "%")) {
      guard let decoded = FormEncoding.decode(bytes.span) else { break }
      bytes = Array(decoded.utf8)
    }
    return bytes
  }

  /// The length of the longest name of a known parameter.
  private static let maximumNameLength = ParameterName.allCases.map(\.text.utf8.count).max() ?? 0

  /// Returns the name that the most lenient server would read; `nil` if it is longer than that of each known parameter.
  private static func folded(_ bytes: [UInt8]) -> String? {
    // C strings end at a NUL. Some servers ignore padding around a name, and a question mark or a bracket in front of
    // it. PHP reads `client_id[x]` as an array with the name `client_id`, so the text from a bracket on is removed.
    var core = bytes.prefix { $0 != 0 }
    core = core.drop { isPadding($0) || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
    core = core.prefix { $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
    while let last = core.last, isPadding(last) { core.removeLast() }
    guard core.count <= maximumNameLength else { return nil }
    return String(
      decoding: core.map { byte -> UInt8 in
        // PHP replaces a period or a space inside a name with an underscore.
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ") ? UInt8(ascii: "_") : byte.lowercasedASCII
      }, as: UTF8.self)
  }

  private static func isPadding(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x7f }
}
