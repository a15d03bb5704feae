internal import Bytes

/// Every text that a path can become on its way through servers that decode, clean and resolve it.
///
/// Nobody knows which of these steps a server takes, nor in which order, and the order matters: `/x%2fy/../authorize` is
/// `/authorize` to a server that resolves dots first, and `/x/authorize` to one that decodes first. So each step is taken
/// of each text until no new one comes.
enum PathVariants {
  private typealias Step = @Sendable ([UInt8]) -> [UInt8]

  /// What reading one request's target may cost: some two milliseconds.
  struct Budget {
    /// Bytes that all steps together may read.
    private(set) var bytes = 96 * 1024
    /// What a step costs besides, in the time that bytes take.
    private static let step = 64

    var isSpent: Bool { bytes <= 0 }

    mutating func spend(on text: [UInt8]) { bytes -= text.count + Budget.step }
  }

  /// More texts than any path has that somebody wrote without wanting to be misread.
  private static let limit = 64
  /// Bytes of a session that is kept in a path.
  private static let longestSession = 256

  /// The path and all that it can become; `nil` when that is too much to look at.
  static func texts(of path: [UInt8], within budget: inout Budget) -> [[UInt8]]? {
    guard !budget.isSpent else { return nil }
    var texts = [path]
    var known: Set<[UInt8]> = [path]
    var index = 0
    while index < texts.count {
      let text = texts[index]
      for step in steps(for: text) {
        budget.spend(on: text)
        let next = step(text)
        guard known.insert(next).inserted else { continue }
        guard texts.count < limit, !budget.isSpent else { return nil }
        texts.append(next)
      }
      index += 1
    }
    return texts
  }

  /// The steps that can change a text, judged by what is in it.
  private static func steps(for text: [UInt8]) -> [Step] {
    let bytes = text.span
    var steps: [Step] = []
    if bytes.contains(UInt8(ascii: "%")) {
      steps += [
        unreservedDecoded, { LenientDecoding.unescaped($0) }, { LenientDecoding.unescaped($0, takesUnicode: true) },
        decodedButSlashes, withoutStrayPercents,
      ]
    }
    // What is no text in the encoding that a program expects, it may leave out.
    if !bytes.isASCII { steps += [LenientDecoding.folded, { $0.filter { $0 < 0x80 } }] }
    if bytes.contains(UInt8(ascii: "+")) { steps.append { $0.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 } } }
    if bytes.starts(with: "//".utf8.span) { steps.append(withoutAuthority) }
    if bytes.contains(UInt8(ascii: "\\")) { steps.append(withSlashes) }
    // No server is known to take a bar for a slash; RFC 3986 has none, and old parsers of file paths do.
    if bytes.contains(UInt8(ascii: "|")) { steps.append(withBars) }
    if bytes.contains(UInt8(ascii: ";")) { steps += [withoutParameters, { upTo(UInt8(ascii: ";"), $0) }] }
    // An encoded question mark or number sign ends the path for servers that decode first.
    if bytes.contains(UInt8(ascii: "?")) { steps.append { upTo(UInt8(ascii: "?"), $0) } }
    if bytes.contains(UInt8(ascii: "#")) { steps.append { upTo(UInt8(ascii: "#"), $0) } }
    if bytes.contains(UInt8(ascii: "(")) {
      steps += [{ withoutSessions($0, joining: false) }, { withoutSessions($0, joining: true) }]
    }
    if bytes.hasControl { steps += [upToControl, withoutControls, endingSegmentsAtControls] }
    if bytes.contains(UInt8(ascii: " ")) || bytes.contains(UInt8(ascii: ".")) { steps.append(trimmed) }
    if bytes.contains("/./") { steps.append(withoutDots) }
    if bytes.contains("//") { steps.append(behindProgram) }
    if bytes.contains("..") {
      // Only what `..` takes away tells whether there are empty segments and `.` between others.
      steps += [withoutEmptySegments, resolved, withoutParents]
    }
    return steps
  }

  // MARK: Decoding

  /// Decodes what may always be decoded (RFC 3986, section 6.2.2.2), dots above all, and leaves the rest: as the WHATWG
  /// parser sees `%2e%2e`.
  private static func unreservedDecoded(_ text: [UInt8]) -> [UInt8] {
    LenientDecoding.unescaped(text) { CanonicalPath.isPlain(CanonicalPath.lowercased($0)) || $0 == UInt8(ascii: "~") }
  }

  /// Leaves encoded slashes as they are, and decodes the rest: what Tomcat can be told to do.
  private static func decodedButSlashes(_ text: [UInt8]) -> [UInt8] {
    LenientDecoding.unescaped(text) { $0 != UInt8(ascii: "/") }
  }

  /// Leaves out percent signs that begin no escape, as classic ASP does.
  private static func withoutStrayPercents(_ text: [UInt8]) -> [UInt8] {
    text.indices.filter { text[$0] != UInt8(ascii: "%") || LenientDecoding.isEscape(text, at: $0) }.map { text[$0] }
  }

  /// What follows `//host`: parsers of references take it for an authority (RFC 3986, section 4.2), with any number of
  /// slashes before it.
  private static func withoutAuthority(_ text: [UInt8]) -> [UInt8] {
    let host = text.drop { $0 == UInt8(ascii: "/") }
    let path = host.drop { $0 != UInt8(ascii: "/") }
    return path.isEmpty ? [UInt8(ascii: "/")] : Array(path)
  }

  /// The path information of a program (RFC 3875, section 4.1.5) where it begins like an authority.
  private static func behindProgram(_ text: [UInt8]) -> [UInt8] {
    var start = text.startIndex
    while let slash = text[start...].firstIndex(of: UInt8(ascii: "/")) {
      let isDouble = slash + 1 < text.count && text[slash + 1] == UInt8(ascii: "/")
      if isDouble, CanonicalPath.isProgram(text[start..<slash].map(CanonicalPath.lowercased)) {
        return Array(text[slash...])
      }
      start = slash + 1
    }
    return text
  }

  private static func withSlashes(_ text: [UInt8]) -> [UInt8] {
    text.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
  }

  private static func withBars(_ text: [UInt8]) -> [UInt8] {
    text.map { $0 == UInt8(ascii: "|") ? UInt8(ascii: "/") : $0 }
  }

  // MARK: Ends

  private static func upTo(_ end: UInt8, _ text: [UInt8]) -> [UInt8] { Array(text.prefix { $0 != end }) }

  private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7f }

  /// As C strings end.
  private static func upToControl(_ text: [UInt8]) -> [UInt8] { Array(text.prefix { !isControl($0) }) }

  /// As the WHATWG parser has it.
  private static func withoutControls(_ text: [UInt8]) -> [UInt8] { text.filter { !isControl($0) } }

  private static func endingSegmentsAtControls(_ text: [UInt8]) -> [UInt8] {
    byEachSegment(text) { $0.prefix { !isControl($0) } }
  }

  // MARK: Segments

  private static func byEachSegment(_ text: [UInt8], _ change: (ArraySlice<UInt8>) -> ArraySlice<UInt8>) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(segments.map(change).joined(separator: [UInt8(ascii: "/")]))
  }

  private static func withoutParameters(_ text: [UInt8]) -> [UInt8] {
    byEachSegment(text) { $0.prefix { $0 != UInt8(ascii: ";") } }
  }

  /// Without spaces around a segment, and without periods at its end, which Windows drops.
  private static func trimmed(_ text: [UInt8]) -> [UInt8] {
    byEachSegment(text) { segment in
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

  /// With `.` left out, and empty segments kept: they may begin an authority.
  private static func withoutDots(_ text: [UInt8]) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(segments.filter { !$0.elementsEqual(".".utf8) }.joined(separator: [UInt8(ascii: "/")]))
  }

  /// With `.` and `..` resolved (RFC 3986, section 5.2.4): an empty segment is one that `..` takes away.
  private static func resolved(_ text: [UInt8]) -> [UInt8] {
    var kept: [ArraySlice<UInt8>] = []
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // Before the first slash there is nothing.
    for segment in segments.first?.isEmpty ?? false ? segments.dropFirst() : segments[...] {
      if segment.elementsEqual("..".utf8) {
        _ = kept.popLast()
      } else if !segment.elementsEqual(".".utf8) {
        kept.append(segment)
      }
    }
    return [UInt8(ascii: "/")] + kept.joined(separator: [UInt8(ascii: "/")])
  }

  /// With `..` left out instead of resolved.
  private static func withoutParents(_ text: [UInt8]) -> [UInt8] {
    let segments = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return Array(segments.filter { !$0.elementsEqual("..".utf8) }.joined(separator: [UInt8(ascii: "/")]))
  }

  // MARK: Sessions

  /// Leaves out `(S(x))`, where ASP.NET keeps a session without cookies; with `joining` the slash before it, too, so that
  /// `to/(S(x))ken` is `token`.
  private static func withoutSessions(_ bytes: [UInt8], joining: Bool) -> [UInt8] {
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if let end = endOfSession(bytes, at: index) {
        if joining, result.last == UInt8(ascii: "/") { result.removeLast() }
        index = end
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  /// The offset behind `(` 1*( letter `(` text `)` ) `)`; `nil` when there is no such thing at `start`.
  private static func endOfSession(_ bytes: [UInt8], at start: Int) -> Int? {
    guard bytes[start] == UInt8(ascii: "(") else { return nil }
    var index = start + 1
    let bytes = bytes[..<min(bytes.count, start + longestSession)]
    while index + 1 < bytes.endIndex, bytes[index] | 0x20 &- 0x61 < 26, bytes[index + 1] == UInt8(ascii: "(") {
      guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ")")) else { return nil }
      index = end + 1
    }
    guard index > start + 1, index < bytes.endIndex, bytes[index] == UInt8(ascii: ")") else { return nil }
    return index + 1
  }
}
