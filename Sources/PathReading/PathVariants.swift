internal import ByteText

/// All texts that a path can become when servers decode and normalise it.
///
/// The gateway does not know which of these steps a server applies, nor in which order. The order matters:
/// `/x%2fy/../authorize` becomes `/authorize` on a server that resolves `..` first, and `/x/authorize` on a server that
/// decodes first. So each step is applied to each text until no new text appears.
enum PathVariants {
  private typealias Step = @Sendable ([UInt8]) -> [UInt8]

  /// The limit for the work on one request target. `Tests/Attack/cost` counts the instructions of the worst targets.
  struct Budget {
    /// The number of bytes that the remaining steps may read in total.
    private var remainingBytes = 48 * 1024
    /// The fixed cost of a step: the number of bytes that could be read in the same time.
    private static let stepCost = 64

    var isSpent: Bool { remainingBytes <= 0 }

    mutating func spend(on text: some Collection<UInt8>) { remainingBytes -= text.count + Budget.stepCost }

    /// Charges the decoding of the name of a parameter. A quarter of a step, because a long query may have hundreds of
    /// names such as `a%5B%5D`.
    mutating func spend(onName name: some Collection<UInt8>) { remainingBytes -= name.count + Budget.stepCost / 4 }
  }

  /// The maximum number of texts that a path may become. Only a path that was written to mislead a server exceeds it.
  private static let maximumTexts = 64
  /// The maximum number of slashes in a text, because each segment is compared with each endpoint path.
  static let maximumSlashes = 64
  /// The maximum length in bytes of a session id in a path, including its parentheses.
  private static let maximumSessionLength = 256

  /// True for a slash, and for the characters that a step replaces with a slash.
  static func isSlash(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "|")
  }

  private static func hasTooManySlashes(_ text: [UInt8]) -> Bool {
    var slashes = 0
    for byte in text where isSlash(byte) { slashes += 1 }
    return slashes > maximumSlashes
  }

  /// Returns the path and all texts that it can become; `nil` if there are too many, if one has too many slashes, or if the
  /// budget is spent. Also charges the budget for reading the path itself.
  static func texts(of path: [UInt8], within budget: inout Budget) -> [[UInt8]]? {
    budget.spend(on: path)
    guard !budget.isSpent, !hasTooManySlashes(path) else { return nil }
    var texts = [path]
    var index = 0
    while index < texts.count {
      let text = texts[index]
      for step in steps(for: text) {
        budget.spend(on: text)
        let next = step(text)
        // There are few texts, and most differ in their length.
        guard !texts.contains(where: { $0.count == next.count && $0.span.isEqual(to: next.span) }) else { continue }
        guard texts.count < maximumTexts, !budget.isSpent, !hasTooManySlashes(next) else { return nil }
        texts.append(next)
      }
      index += 1
    }
    return texts
  }

  /// Returns the steps that can change a text, according to the bytes in it.
  private static func steps(for text: [UInt8]) -> [Step] {
    let bytes = text.span
    var steps: [Step] = []
    if bytes.contains(UInt8(ascii: "%")) {
      steps += [
        unreservedDecoded, { LenientDecoding.unescaped($0) },
        { LenientDecoding.unescaped($0, decodesUnicodeEscapes: true) },
        decodedExceptSlashes, withoutStrayPercents,
      ]
    }
    // A program may drop bytes that are not valid in the encoding that it expects.
    if !bytes.isASCII { steps += [LenientDecoding.folded, { $0.filter { $0 < 0x80 } }] }
    if bytes.contains(UInt8(ascii: "+")) { steps.append { $0.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 } } }
    if bytes.starts(with: "//".utf8.span) { steps.append(withoutAuthority) }
    if bytes.contains(UInt8(ascii: "\\")) { steps.append(backslashesToSlashes) }
    // Old parsers of file paths read a bar as a slash. No server is known to do so, but no valid path has a bar (RFC
    // 3986).
    if bytes.contains(UInt8(ascii: "|")) { steps.append(barsToSlashes) }
    if bytes.contains(UInt8(ascii: ";")) { steps += [withoutParameters, { upTo(UInt8(ascii: ";"), $0) }] }
    // For a server that decodes first, an encoded question mark or number sign ends the path.
    if bytes.contains(UInt8(ascii: "?")) { steps.append { upTo(UInt8(ascii: "?"), $0) } }
    if bytes.contains(UInt8(ascii: "#")) { steps.append { upTo(UInt8(ascii: "#"), $0) } }
    if bytes.contains(UInt8(ascii: "(")) {
      steps += [{ withoutSessions($0, removingSlash: false) }, { withoutSessions($0, removingSlash: true) }]
    }
    if bytes.hasControl { steps += [upToControl, withoutControls, endingSegmentsAtControls] }
    if bytes.contains(UInt8(ascii: " ")) || bytes.contains(UInt8(ascii: ".")) { steps.append(trimmed) }
    if bytes.contains("/./") { steps.append(withoutDots) }
    if bytes.contains("//") { steps.append(afterProgram) }
    if bytes.contains("..") {
      // A server may remove empty segments before or after it resolves `..`. The order determines which segment `..`
      // removes.
      steps += [withoutEmptySegments, resolved, withoutParents]
      if hasParentInSegment(text) { steps += [separatingParents, shorteningToParents, afterParentInSegment] }
    }
    // Some routers name a handler in a module by `module__handler`.
    if bytes.contains("__") { steps.append(underscoresToSlashes) }
    return steps
  }

  // MARK: Decoding

  /// Decodes only the characters that may always be decoded (RFC 3986, section 6.2.2.2), in particular dots. Parsers
  /// that follow the WHATWG standard treat `%2e%2e` in this way.
  private static func unreservedDecoded(_ text: [UInt8]) -> [UInt8] {
    LenientDecoding.unescaped(text) { CanonicalPath.isPlain($0.lowercasedASCII) || $0 == UInt8(ascii: "~") }
  }

  /// Decodes everything except escapes of slashes. Tomcat can be configured to decode in this way.
  private static func decodedExceptSlashes(_ text: [UInt8]) -> [UInt8] {
    LenientDecoding.unescaped(text) { $0 != UInt8(ascii: "/") }
  }

  /// Removes percent signs that do not begin an escape, as classic ASP does.
  private static func withoutStrayPercents(_ text: [UInt8]) -> [UInt8] {
    text.indices.filter { text[$0] != UInt8(ascii: "%") || LenientDecoding.isEscape(text, at: $0) }.map { text[$0] }
  }

  /// Returns the path after `//host`, which a parser of URI references reads as an authority (RFC 3986, section 4.2).
  /// There may be more than two slashes.
  private static func withoutAuthority(_ text: [UInt8]) -> [UInt8] {
    let host = text.drop { $0 == UInt8(ascii: "/") }
    let path = host.drop { $0 != UInt8(ascii: "/") }
    return path.isEmpty ? [UInt8(ascii: "/")] : Array(path)
  }

  /// Returns only the path information after a program (RFC 3875, section 4.1.5) if the path information begins with
  /// two slashes, because the program may then read the first segment of the path information as an authority. Returns
  /// any other text unchanged.
  private static func afterProgram(_ text: [UInt8]) -> [UInt8] {
    var start = text.startIndex
    while let slash = text[start...].firstIndex(of: UInt8(ascii: "/")) {
      let isDouble = slash + 1 < text.count && text[slash + 1] == UInt8(ascii: "/")
      if isDouble, CanonicalPath.isProgram(text[start..<slash]) {
        return Array(text[slash...])
      }
      start = slash + 1
    }
    return text
  }

  private static func backslashesToSlashes(_ text: [UInt8]) -> [UInt8] {
    text.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
  }

  private static func barsToSlashes(_ text: [UInt8]) -> [UInt8] {
    text.map { $0 == UInt8(ascii: "|") ? UInt8(ascii: "/") : $0 }
  }

  // MARK: Ends

  private static func upTo(_ end: UInt8, _ text: [UInt8]) -> [UInt8] { Array(text.prefix { $0 != end }) }

  /// Ends the text at the first control character, as C strings end at a NUL.
  private static func upToControl(_ text: [UInt8]) -> [UInt8] { Array(text.prefix { !$0.isControl }) }

  /// Removes control characters. Parsers that follow the WHATWG standard remove some of them.
  private static func withoutControls(_ text: [UInt8]) -> [UInt8] { text.filter { !$0.isControl } }

  /// Ends each segment at its first control character.
  private static func endingSegmentsAtControls(_ text: [UInt8]) -> [UInt8] {
    mappingSegments(text) { $0.prefix { !$0.isControl } }
  }

  // MARK: Segments

  /// Applies `change` to each segment.
  private static func mappingSegments(_ text: [UInt8], _ change: (ArraySlice<UInt8>) -> ArraySlice<UInt8>) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(segments.map(change).joined(separator: [UInt8(ascii: "/")]))
  }

  /// Removes the parameters of each segment (RFC 3986, section 3.3), such as `;jsessionid=1`.
  static func withoutParameters(_ text: [UInt8]) -> [UInt8] {
    mappingSegments(text) { $0.prefix { $0 != UInt8(ascii: ";") } }
  }

  /// Removes spaces around each segment, and periods at its end, which Windows ignores. The segments `.` and `..` stay.
  private static func trimmed(_ text: [UInt8]) -> [UInt8] {
    mappingSegments(text) { segment in
      var rest = segment.drop { $0 == UInt8(ascii: " ") }
      while rest.last == UInt8(ascii: " ") { rest.removeLast() }
      if rest.elementsEqual(".".utf8) || rest.elementsEqual("..".utf8) { return rest }
      while let last = rest.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") { rest.removeLast() }
      return rest
    }
  }

  private static func withoutEmptySegments(_ text: [UInt8]) -> [UInt8] {
    [UInt8(ascii: "/")] + text.split(separator: UInt8(ascii: "/")).joined(separator: [UInt8(ascii: "/")])
  }

  /// Removes `.` segments. Empty segments stay, because they may begin an authority.
  private static func withoutDots(_ text: [UInt8]) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(segments.filter { !$0.elementsEqual(".".utf8) }.joined(separator: [UInt8(ascii: "/")]))
  }

  /// Resolves `.` and `..` (RFC 3986, section 5.2.4). `..` removes an empty segment like any other.
  private static func resolved(_ text: [UInt8]) -> [UInt8] {
    var kept: [ArraySlice<UInt8>] = []
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // The empty text in front of the first slash is not a segment.
    for segment in segments.first?.isEmpty ?? false ? segments.dropFirst() : segments[...] {
      if segment.elementsEqual("..".utf8) {
        _ = kept.popLast()
      } else if !segment.elementsEqual(".".utf8) {
        kept.append(segment)
      }
    }
    return [UInt8(ascii: "/")] + kept.joined(separator: [UInt8(ascii: "/")])
  }

  /// Removes `..` segments without removing the segments in front of them.
  private static func withoutParents(_ text: [UInt8]) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(segments.filter { !$0.elementsEqual("..".utf8) }.joined(separator: [UInt8(ascii: "/")]))
  }

  // MARK: Parents inside segments

  /// True if the segment ends in `..` behind another character than a period. A server that replaces the prefix `/static`
  /// of a path by a folder with a slash at its end, or by `/`, reads `/static../x` as `/static/../x` or `/../x`.
  private static func hasParent(_ segment: ArraySlice<UInt8>) -> Bool {
    segment.count > 2 && segment.suffix(2).elementsEqual("..".utf8) && segment.contains { $0 != UInt8(ascii: ".") }
  }

  private static func hasParentInSegment(_ text: [UInt8]) -> Bool {
    text.split(separator: UInt8(ascii: "/")).contains(where: hasParent)
  }

  /// Inserts a slash in front of `..` at the end of a segment.
  private static func separatingParents(_ text: [UInt8]) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(
      segments.map { hasParent($0) ? $0.dropLast(2) + Array("/..".utf8) : $0 }.joined(separator: [UInt8(ascii: "/")]))
  }

  /// Removes the text in front of `..` at the end of a segment.
  private static func shorteningToParents(_ text: [UInt8]) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(segments.map { hasParent($0) ? $0.suffix(2) : $0 }.joined(separator: [UInt8(ascii: "/")]))
  }

  /// Returns the text after the last segment that ends in `..`, because the prefix that the server replaces may have
  /// several segments.
  private static func afterParentInSegment(_ text: [UInt8]) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard let last = segments.lastIndex(where: hasParent) else { return text }
    return [UInt8(ascii: "/")] + segments[(last + 1)...].joined(separator: [UInt8(ascii: "/")])
  }

  /// Replaces each group of two or more underscores with a slash.
  private static func underscoresToSlashes(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      var end = index
      while end < text.count, text[end] == UInt8(ascii: "_") { end += 1 }
      if end - index > 1 {
        result.append(UInt8(ascii: "/"))
        index = end
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return result
  }

  // MARK: Line breaks

  /// True if the path contains a percent-encoded line break, encoded once or several times. A server that inserts the
  /// decoded path into a request to another server would write a second request (`proxy_pass http://app$uri` of nginx).
  static func hasEncodedLineBreak(_ path: Span<UInt8>) -> Bool {
    var index = 0
    while let percent = path.firstIndex(of: UInt8(ascii: "%"), from: index) {
      index = percent + 1
      // `%25` is an encoded percent sign.
      while index + 1 < path.count, path[index] == UInt8(ascii: "2"), path[index + 1] == UInt8(ascii: "5") {
        index += 2
      }
      guard index + 1 < path.count, path[index] == UInt8(ascii: "0") else { continue }
      let digit = path[index + 1].lowercasedASCII
      if digit == UInt8(ascii: "a") || digit == UInt8(ascii: "d") { return true }
    }
    return false
  }

  // MARK: Sessions

  /// Removes `(S(x))`. ASP.NET keeps the session id in this form in the path if the browser has no cookies. With
  /// `removingSlash`, the slash in front of `(S(x))` is removed, too, so that `to/(S(x))ken` becomes `token`.
  private static func withoutSessions(_ bytes: [UInt8], removingSlash: Bool) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if let end = endOfSession(bytes, at: index) {
        if removingSlash, result.last == UInt8(ascii: "/") { result.removeLast() }
        index = end
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  /// Returns the offset after a session id that begins at `start`, such as `(S(x))` or `(A(x)S(y))`; `nil` if no
  /// session id begins there.
  private static func endOfSession(_ bytes: [UInt8], at start: Int) -> Int? {
    guard bytes[start] == UInt8(ascii: "(") else { return nil }
    var index = start + 1
    let bytes = bytes[..<min(bytes.count, start + maximumSessionLength)]
    while index + 1 < bytes.endIndex, bytes[index].isLetter, bytes[index + 1] == UInt8(ascii: "(") {
      guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ")")) else { return nil }
      index = end + 1
    }
    guard index > start + 1, index < bytes.endIndex, bytes[index] == UInt8(ascii: ")") else { return nil }
    return index + 1
  }
}
