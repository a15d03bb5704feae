/// All that a request says in its query and body, as far as a code could hide in it (`I-completion`).
///
/// An open redirect of the upstream sends back what the request held, read in that server's way: more lenient than the
/// parser here, perhaps decoded several times. So the texts are searched as they came and after each decoding, and not
/// only in the parameters that a strict reader finds.
public struct RequestContent: Sendable {
  /// A return address in a return address in a parameter; more than any server decodes.
  private static let rounds = 4
  /// A shorter code could stand in some other value by chance: it must stand by itself.
  private static let distinctive = 8

  private let texts: [[UInt8]]

  /// - Parameters:
  ///   - query: What follows the question mark; empty without one.
  ///   - body: The body; empty without one.
  public init(query: some StringProtocol, body: [UInt8] = []) {
    texts = [Array(query.utf8), body].filter { !$0.isEmpty }
  }

  /// Whether the text occurs, in plain or encoded.
  func holds(_ code: String) -> Bool {
    let wanted = RequestContent.withoutPlus(Array(code.utf8))
    return texts.contains { text in
      var text = text
      for _ in 0...RequestContent.rounds {
        if RequestContent.occurs(wanted, in: RequestContent.withoutPlus(text)) { return true }
        let decoded = RequestContent.decoded(text)
        guard decoded.count < text.count else { return false }
        text = decoded
      }
      return false
    }
  }

  /// A plus is itself to one reader and a space to another: here they are the same.
  private static func withoutPlus(_ text: [UInt8]) -> [UInt8] {
    text.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
  }

  /// Percent-escapes decoded once, broken ones kept.
  private static func decoded(_ text: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.count, let high = digit(text[index + 1]),
        let low = digit(text[index + 2])
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func occurs(_ wanted: [UInt8], in text: [UInt8]) -> Bool {
    guard let first = wanted.first, wanted.count <= text.count else { return false }
    for start in 0...(text.count - wanted.count) where text[start] == first {
      let end = start + wanted.count
      guard text[start..<end].elementsEqual(wanted) else { continue }
      if wanted.count >= distinctive { return true }
      let standsAlone = (start == 0 || !isWord(text[start - 1])) && (end == text.count || !isWord(text[end]))
      if standsAlone { return true }
    }
    return false
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
