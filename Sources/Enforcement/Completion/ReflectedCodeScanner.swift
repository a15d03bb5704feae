internal import ByteText

/// The target, cookies and body of a request, in which the gateway searches for authorization codes (invariant
/// `I-completion`).
///
/// An open redirect of the upstream can send back a value of the request as if it were an authorization response. The
/// upstream may read this value more leniently than the gateway's parser, and decode it several times. So the gateway
/// searches the complete texts, as sent and after each decoding, and not only the parameters that its parser finds.
public struct ReflectedCodeScanner: Sendable {
  /// A text is searched as sent, after the first decoding, and so on up to this number of decodings, and also
  /// completely decoded. A return address within another return address needs fewer decodings, and no server decodes
  /// more often.
  private static let maximumDecodings = 4
  /// The length in bytes from which a code is found anywhere in a text. A shorter code may occur by chance within
  /// another value, so it is found only if no letter, digit, `-` or `_` is next to it.
  private static let distinctiveLength = 8

  private let texts: [[UInt8]]

  /// Collects the parts of a request.
  /// - Parameters:
  ///   - target: The path and query as sent.
  ///   - cookies: The values of all `Cookie` fields.
  ///   - body: The body; empty if the request has no body.
  public init(target: String, cookies: [String] = [], body: [UInt8] = []) {
    var texts: [[UInt8]] = []
    texts.reserveCapacity(cookies.count + 2)
    texts.append(Array(target.utf8))
    for cookie in cookies { texts.append(Array(cookie.utf8)) }
    texts.append(body)
    self.init(texts: texts)
  }

  init(texts: [[UInt8]]) {
    self.texts = texts.filter { !$0.isEmpty }
  }

  /// True if a value of the request, completely decoded, contains both a parameter `code` and one of the addresses.
  /// Such a value is a forged authorization response, which an open redirect could deliver.
  func containsResponse(to addresses: @autoclosure () -> [String]) -> Bool {
    // Few requests contain a parameter `code`, so `addresses` is evaluated only for those.
    let values = texts.flatMap { ReflectedCodeScanner.valuesWithCode($0.span) }
    guard !values.isEmpty else { return false }
    let wanted = addresses().map { ReflectedCodeScanner.lowercased(Array($0.utf8)) }
    return values.contains { value in wanted.contains { value.contains($0) } }
  }

  /// Returns the values that contain a parameter `code`, completely decoded and in lower case.
  private static func valuesWithCode(_ text: Span<UInt8>) -> [[UInt8]] {
    var found: [[UInt8]] = []
    var start = 0
    while start < text.count {
      let end = text.firstIndex(of: UInt8(ascii: "&"), from: start) ?? text.count
      let pair = text.extracting(start..<end)
      let value = pair.extracting(valueOffset(in: pair)..<pair.count)
      start = end + 1
      // A value with a parameter contains an equals sign, plain or escaped.
      guard value.contains(UInt8(ascii: "=")) || value.contains(UInt8(ascii: "%")) else { continue }
      let decoded = PercentDecoding.repeated(value)
      if hasCodeParameter(decoded.span) { found.append(lowercased(decoded)) }
    }
    return found
  }

  /// Returns the offset of the value in a `name=value` pair: after the equals sign. Returns 0 if there is no equals
  /// sign, or if the text before the sign has a question mark and is therefore part of an address.
  private static func valueOffset(in pair: Span<UInt8>) -> Int {
    guard let equals = pair.firstIndex(of: UInt8(ascii: "=")),
      !pair.extracting(0..<equals).contains(UInt8(ascii: "?"))
    else { return 0 }
    return equals + 1
  }

  /// True if the text has a parameter with the name `code`.
  private static func hasCodeParameter(_ text: Span<UInt8>) -> Bool {
    let name = "code"
    var next = text.firstIndex(of: UInt8(ascii: "="), from: name.utf8.count)
    while let equals = next {
      let start = equals - name.utf8.count
      let isCode = text.extracting(start..<equals).isEqualIgnoringCase(to: name.utf8.span)
      if isCode, start == 0 || !isWord(text[start - 1]) { return true }
      next = text.firstIndex(of: UInt8(ascii: "="), from: equals + 1)
    }
    return false
  }

  private static func lowercased(_ text: [UInt8]) -> [UInt8] {
    text.map(\.lowercasedASCII)
  }

  /// True if the code occurs in any part of the request, as sent or after decoding.
  func contains(code: String) -> Bool {
    let wanted = ReflectedCodeScanner.replacingPlus(Array(code.utf8))
    let isUnreserved = wanted.allSatisfy(\.isUnreserved)
    // A code that contains escapes itself is found only if the code and the part of the request are both completely
    // decoded.
    let decodedCode =
      isUnreserved ? wanted : ReflectedCodeScanner.replacingPlus(PercentDecoding.repeated(code.utf8.span))
    // If decoding adds no unreserved character to a text, one search of the text as sent is enough for a code of
    // unreserved characters. A short code needs all searches: it counts as found only if no letter, digit, `-` or `_` is
    // next to it, and decoding can change the characters next to it.
    let isDistinctiveAndUnreserved = isUnreserved && wanted.count >= ReflectedCodeScanner.distinctiveLength
    return texts.contains { text in
      if isDistinctiveAndUnreserved, ReflectedCodeScanner.decodingAddsNoUnreserved(text.span) {
        return ReflectedCodeScanner.occurs(wanted, in: text)
      }
      var text = ReflectedCodeScanner.replacingPlus(text)
      let decodedText = ReflectedCodeScanner.replacingPlus(PercentDecoding.repeated(text.span))
      if ReflectedCodeScanner.occurs(decodedCode, in: decodedText) { return true }
      for _ in 0...ReflectedCodeScanner.maximumDecodings {
        // The search of `decodedText` has covered this text.
        if text.span.isEqual(to: decodedText.span), wanted.span.isEqual(to: decodedCode.span) { return false }
        if ReflectedCodeScanner.occurs(wanted, in: text) { return true }
        let decoded = PercentDecoding.lenient(text.span)
        guard decoded.count < text.count else { return false }
        text = ReflectedCodeScanner.replacingPlus(decoded)
      }
      return false
    }
  }

  /// True if every percent sign in the text begins an escape of a byte that is neither unreserved nor a percent sign.
  ///
  /// Then no decoding, even a repeated one, adds unreserved characters to the text. So a code of unreserved characters
  /// is in the decoded text only if it is in the original. The result is true for nearly all requests: browsers and
  /// libraries do not escape unreserved characters (RFC 3986, section 2.3).
  private static func decodingAddsNoUnreserved(_ text: Span<UInt8>) -> Bool {
    var next = text.firstIndex(of: UInt8(ascii: "%"))
    while let mark = next {
      guard let byte = text.escapedByte(at: mark), byte != UInt8(ascii: "%"), !byte.isUnreserved else { return false }
      next = text.firstIndex(of: UInt8(ascii: "%"), from: mark + 3)
    }
    return true
  }

  /// Replaces each plus with a space. Some servers read a plus as a space and others as a plus, so both must compare as
  /// equal.
  private static func replacingPlus(_ text: [UInt8]) -> [UInt8] {
    guard text.span.contains(UInt8(ascii: "+")) else { return text }
    return text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
  }

  private static func occurs(_ wanted: [UInt8], in text: [UInt8]) -> Bool {
    guard let first = wanted.first else { return false }
    let text = text.span
    var start = 0
    while let found = text.firstIndex(of: first, from: start) {
      let end = found + wanted.count
      guard end <= text.count else { return false }
      start = found + 1
      guard text.extracting(found..<end).isEqual(to: wanted.span) else { continue }
      if wanted.count >= distinctiveLength { return true }
      let isDelimited = (found == 0 || !isWord(text[found - 1])) && (end == text.count || !isWord(text[end]))
      if isDelimited { return true }
    }
    return false
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }
}
