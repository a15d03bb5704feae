internal import ByteText

/// The target, header fields and body of a request, in which the gateway searches for authorization codes (invariant
/// `I-completion`).
///
/// An open redirect of the upstream can send back a value of the request as if it were an authorization response. The
/// upstream may read this value more leniently than the gateway's parser, and decode it several times. So the gateway
/// searches the complete texts, as sent and after each decoding, and not only the parameters that its parser finds. It
/// also searches what a server gets by decoding a part of a text as base64. The cost is linear in the length of the
/// request.
///
/// No search can find a value that the server has stored, or has decoded in another way.
public struct ReflectedCodeScanner: Sendable {
  private let texts: [String]
  private let bodies: [[UInt8]]

  /// Collects the parts of a request.
  /// - Parameters:
  ///   - target: The path and query as sent.
  ///   - fields: The values of all header fields.
  ///   - body: The body; empty if the request has no body.
  public init(target: String, fields: [String] = [], body: [UInt8] = []) {
    texts = [target] + fields
    bodies = [body]
  }

  init(texts: [[UInt8]]) {
    self.texts = []
    bodies = texts
  }

  /// True if the condition is true for one of the parts.
  private func hasPart(where condition: (Span<UInt8>) -> Bool) -> Bool {
    for text in texts where condition(text.utf8.span) { return true }
    for body in bodies where condition(body.span) { return true }
    return false
  }

  /// True if a value of the request, completely decoded, contains both a parameter `code` and one of the addresses.
  /// Such a value is a forged authorization response, which an open redirect could deliver.
  func containsResponse(to addresses: @autoclosure () -> [String]) -> Bool {
    // Few requests contain a parameter `code`, so `addresses` is evaluated only for those.
    var values: [[UInt8]] = []
    _ = hasPart { part in
      values += ReflectedCodeScanner.valuesWithCode(part)
      return false
    }
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
      // Libraries that normalise an address remove the other bytes.
      let decoded = PercentDecoding.repeated(value).filter { !isRemovedFromAddresses($0) }
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
      if isCode, start == 0 || !text[start - 1].isWord { return true }
      next = text.firstIndex(of: UInt8(ascii: "="), from: equals + 1)
    }
    return false
  }

  private static func isRemovedFromAddresses(_ byte: UInt8) -> Bool {
    byte <= .space || byte >= 0x7f || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
      || byte == UInt8(ascii: "\"")
  }

  private static func lowercased(_ text: [UInt8]) -> [UInt8] {
    text.map(\.lowercasedASCII)
  }

  /// True if the code occurs in any part of the request, as sent or after decoding.
  func contains(code: String) -> Bool {
    let code = SearchedCode(code)
    return hasPart { text in
      // No decoding makes a text longer.
      guard text.count >= code.minimumLength else { return false }
      let addsNoUnreserved = SearchedCode.decodingAddsNoUnreserved(text)
      if code.occurs(in: text, decodingAddsNoUnreserved: addsNoUnreserved) { return true }
      // Three bytes become four characters of base64. A code of few bytes occurs there by chance.
      let longest = text.count / 4 * 3 + 3
      guard longest >= code.minimumLength, code.minimumLength >= ReflectedCodeScanner.minimumLengthInBase64,
        !addsNoUnreserved || Base64Readings.mayHaveVisibleText(in: text, ofAtLeast: code.minimumLength)
      else { return false }
      let decoded = PercentDecoding.repeated(text)
      let readings = Base64Readings.visibleTexts(in: decoded.span, ofAtLeast: code.minimumLength)
      return !readings.isEmpty
        && code.occurs(
          in: readings.span, decodingAddsNoUnreserved: SearchedCode.decodingAddsNoUnreserved(readings.span))
    }
  }

  /// The length from which a code is also searched in what the base64 in a text may mean. The meaning of other texts as
  /// base64 is random, and contains given five bytes once in 10^12 characters.
  private static let minimumLengthInBase64 = 5
}

/// A code for which texts are searched.
private struct SearchedCode {
  /// A text is searched as sent, after the first decoding, and so on up to this number of decodings, and also
  /// completely decoded. A return address within another return address needs fewer decodings, and no server decodes
  /// more often.
  private static let maximumDecodings = 4
  /// The length in bytes from which a code is found anywhere in a text. A shorter code may occur by chance within
  /// another value, so it is found only if no letter, digit, `-` or `_` is next to it.
  private static let distinctiveLength = 8

  private let sent: Needle
  /// The completely decoded code. A code that contains escapes itself is found only if the code and the part of the
  /// request are both completely decoded.
  private let decoded: Needle
  private let isUnreserved: Bool

  init(_ code: String) {
    isUnreserved = code.utf8.span.allSatisfy(\.isUnreserved)
    sent = Needle(SearchedCode.replacingPlus([UInt8](copying: code.utf8.span)))
    decoded = isUnreserved ? sent : Needle(SearchedCode.replacingPlus(PercentDecoding.repeated(code.utf8.span)))
  }

  /// The length of the shortest text that can contain the code, in bytes.
  var minimumLength: Int { decoded.bytes.count }

  /// True if the code occurs in the text, or in the text after percent-decoding.
  ///
  /// - Parameter decodingAddsNoUnreserved: The result of the function with this name.
  func occurs(in text: Span<UInt8>, decodingAddsNoUnreserved: Bool) -> Bool {
    // If decoding adds no unreserved character to a text, one search of the text as sent is enough for a code of
    // unreserved characters. A short code needs all searches: it counts as found only if no letter, digit, `-` or `_` is
    // next to it, and decoding can change the characters next to it.
    if decodingAddsNoUnreserved, isUnreserved, sent.bytes.count >= SearchedCode.distinctiveLength {
      return occurs(sent, in: text)
    }
    var text = SearchedCode.replacingPlus([UInt8](copying: text))
    let decodedText = SearchedCode.replacingPlus(PercentDecoding.repeated(text.span))
    if occurs(decoded, in: decodedText.span) { return true }
    for _ in 0...SearchedCode.maximumDecodings {
      // The search of `decodedText` has covered this text.
      if text.span.isEqual(to: decodedText.span), sent.bytes.span.isEqual(to: decoded.bytes.span) { return false }
      if occurs(sent, in: text.span) { return true }
      let decodedOnce = PercentDecoding.lenient(text.span)
      guard decodedOnce.count < text.count else { return false }
      text = SearchedCode.replacingPlus(decodedOnce)
    }
    return false
  }

  private func occurs(_ needle: Needle, in text: Span<UInt8>) -> Bool {
    let isDistinctive = needle.bytes.count >= SearchedCode.distinctiveLength
    return needle.occurs(in: text, onlyAsWord: !isDistinctive, skipsOthers: isDistinctive && isUnreserved)
  }

  /// True if every percent sign in the text begins an escape of a byte that is neither unreserved nor a percent sign.
  ///
  /// Then no decoding, even a repeated one, adds unreserved characters to the text. So a code of unreserved characters
  /// is in the decoded text only if it is in the original. The result is true for nearly all requests: browsers and
  /// libraries do not escape unreserved characters (RFC 3986, section 2.3).
  static func decodingAddsNoUnreserved(_ text: Span<UInt8>) -> Bool {
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
}

/// A text that is searched in other texts in linear time (the algorithm of Knuth, Morris and Pratt).
private struct Needle {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns, for each beginning of `bytes`, the length of its longest proper beginning that is also its end.
  private func borders() -> [Int] {
    var borders = [Int](repeating: 0, count: bytes.count)
    let text = bytes.span
    var length = 0
    var index = 1
    while index < text.count {
      while length > 0, text[length] != text[index] { length = borders[length - 1] }
      if text[length] == text[index] { length += 1 }
      borders[index] = length
      index &+= 1
    }
    return borders
  }

  /// Returns the length of the escape or byte at the index if it is not that of an unreserved character; otherwise `nil`.
  private static func skippedWidth(_ text: Span<UInt8>, at index: Int) -> Int? {
    if let byte = text.escapedByte(at: index) { return byte.isUnreserved ? nil : 3 }
    return text[index].isUnreserved ? nil : 1
  }

  /// True if the text contains this one.
  ///
  /// - Parameters:
  ///   - onlyAsWord: True if no letter, digit, `-` or `_` may be next to it.
  ///   - skipsOthers: True to ignore escapes and bytes that are not unreserved between its bytes: libraries that normalise
  ///     an address remove white space, control characters and others.
  func occurs(in text: Span<UInt8>, onlyAsWord: Bool, skipsOthers: Bool) -> Bool {
    guard let first = bytes.first else { return false }
    // The number of bytes in front of `index` that equal the first ones of the needle.
    var matched = 0
    var index = 0
    // Few texts need them: one byte has none.
    var borders: [Int]?
    func border(of length: Int) -> Int {
      guard length > 1 else { return 0 }
      let known = borders ?? self.borders()
      borders = known
      return known[length - 1]
    }
    while true {
      if matched == 0 {
        guard let found = text.firstIndex(of: first, from: index) else { return false }
        (index, matched) = (found + 1, 1)
      } else if index < text.count, text[index] == bytes[matched] {
        (index, matched) = (index + 1, matched + 1)
      } else if index < text.count, skipsOthers, let width = Needle.skippedWidth(text, at: index) {
        index += width
        continue
      } else if index < text.count {
        matched = border(of: matched)
      } else {
        return false
      }
      guard matched == bytes.count else { continue }
      guard onlyAsWord else { return true }
      let start = index - matched
      if start == 0 || !text[start - 1].isWord, index == text.count || !text[index].isWord { return true }
      matched = border(of: matched)
    }
  }
}

extension UInt8 {
  /// True for a letter, a digit, `-` and `_`.
  fileprivate var isWord: Bool { isLetterOrDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}
