/// Texts of the server that the report may contain.
enum Word {
  /// Returns a code of the server, such as `invalid_grant`, or a replacement if the text is no short word: it could contain a
  /// secret of the request, or control characters of a terminal.
  static func printable(_ text: String) -> String {
    let isWord =
      (1...40).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
      }
    return isWord ? text : "(another text)"
  }

  /// Returns a path of the server, cut to a length that a terminal can show.
  static func path(_ text: some StringProtocol) -> String {
    String(text.prefix(200).filter { $0.isASCII && $0 > " " && $0 < "\u{7f}" && !"`\"'\\<>".contains($0) })
  }
}
