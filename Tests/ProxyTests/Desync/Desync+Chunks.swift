extension Desync {
  // MARK: Class 3

  static let chunks: [DesyncCase] = badChunks + goodChunks

  private static func chunked(_ body: String) -> String { post("Transfer-Encoding: chunked\r\n", body) }

  private static let badChunks: [DesyncCase] =
    // Sizes.
    [
      "", " 5", "5 ", "5\t", "\t5", "+5", "-5", "0x5", "0X5", "5h", "g", "5.0", "5,5", "5 5", "\"5\"", "\u{ff15}",
      "\u{665}",
      "5\u{0}", "\u{0}5", "5\u{b}", "5\u{a0}", "0000000000000005", "fffffffffffffffff", "10000000000000005",
      "ffffffffffffffff", "8000000000000000", "7fffffffffffffff", "5 ;a=b", "5\t;a=b", ";", ";a=b", "5_0", "five",
      "5\r",
    ].map { .cut("size `\(shown($0))`", chunked("\($0)\r\nhello\r\n0\r\n\r\n")) }
    // Line ends.
    + [
      "5\nhello\r\n0\r\n\r\n", "5\rhello\r\n0\r\n\r\n", "5\r\nhello\n0\r\n\r\n", "5\r\nhello\r0\r\n\r\n",
      "5\r\nhello0\r\n\r\n", "5\n\rhello\r\n0\r\n\r\n", "5\r\nhello\n\r0\r\n\r\n", "5\r\n\nhello\r\n0\r\n\r\n",
      "5\r\nhello\r\n\r\n0\r\n\r\n", "\r\n5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\n\r\n", "5\r\nhello\r\n0\r\r\n",
      "5\r\nhello\r\n0\r\n\n", "5\r\nhello\r\n0\r\n\rX", "5\r\nhello\r\n\u{0}0\r\n\r\n", "5\r\nhello\r\n 0\r\n\r\n",
      "5\r\nhello\r\n-0\r\n\r\n", "5\r\nhello\r\n0x0\r\n\r\n", "5\r\nhello\r\n0 \r\n\r\n",
    ].map { .cut("line end in `\(shown($0))`", chunked($0)) }
    // Sizes that differ from the length of the data.
    + ["4\r\nhello\r\n0\r\n\r\n", "6\r\nhello\r\n0\r\n\r\n", "3\r\nhello\r\n0\r\n\r\n", "7\r\nhello\r\n0\r\n\r\n"]
    .map { .cut("a size that lies in `\(shown($0))`", chunked($0)) }
    // Extensions, in which line ends of other servers are hidden.
    + [
      "5;a\nb", "5;a\rb", "5;a=\"\r\n\"", "5;\n", "5;a=\"b\n", "5;a\u{0}b", "5;a\u{b}b", "5;a\u{7f}b",
      "5;a\n0\r\n\r\n\(inner)",
    ].map { .cut("extension `\(shown($0))`", chunked("\($0)\r\nhello\r\n0\r\n\r\n")) }
    + [
      .cut(
        "extensions without end", chunked("5;" + String(repeating: "a", count: 5_000) + "\r\nhello\r\n0\r\n\r\n"), 413),
      .cut(
        "small extensions without end",
        chunked(String(repeating: "1;\(String(repeating: "x", count: 50))\r\na\r\n", count: 90) + "0\r\n\r\n"), 413),
    ]
    // Trailers.
    + [
      "A : b", " A: b", "\tA: b", "A", ": b", "A: b\nB: c", "A: b\rB: c", "A: \u{0}", "A\u{0}: b", "A: b\r\n c",
      "(A): b",
      "A B: c", "\u{e4}: b", "A: b\u{7f}", "A:\n",
    ].map { .cut("trailer `\(shown($0))`", chunked("5\r\nhello\r\n0\r\n\($0)\r\n\r\n")) }
    + [
      .cut("trailers without end", chunked("0\r\n" + String(repeating: "A: bcdefgh\r\n", count: 1_000) + "\r\n"), 413)
    ]

  private static func whole(_ name: String, _ body: String, _ data: String = "hello") -> DesyncCase {
    .forwarded(name, chunked(body), CanonicalRequest(method: "POST", body: .chunked(data)))
  }

  /// Trailers of a chunked body, and the lines of those that may be forwarded.
  private static let trailerSections: [(name: String, sent: String, forwarded: [String])] = [
    ("a trailer", "A:  b\t\r\n", ["A: b"]), ("a trailer without a value", "A:\r\n", ["A: "]),
    ("a trailer with framing", "Content-Length: 50\r\nTransfer-Encoding: x\r\nHost: evil\r\n", []),
    ("a trailer that seems a chunk", "0: x\r\nA: 5\r\n", ["0: x", "A: 5"]),
    ("a request in a trailer", "X: GET /smuggled HTTP/1.1\r\n", ["X: GET /smuggled HTTP/1.1"]),
  ]

  private static func trailed(_ section: String) -> String { "5\r\nhello\r\n0\r\n\(section)\r\n" }

  /// Requests with trailers for a gateway that forwards them.
  static let trailers: [DesyncCase] = trailerSections.map {
    .forwarded(
      $0.name, chunked(trailed($0.sent)), CanonicalRequest(method: "POST", body: .trailed("hello", $0.forwarded)))
  }

  private static let goodChunks: [DesyncCase] =
    trailerSections.map { whole($0.name, trailed($0.sent)) } + [
      whole("no chunk", "0\r\n\r\n", ""), whole("a leading zero", "05\r\nhello\r\n0\r\n\r\n"),
      whole("fifteen digits", "000000000000005\r\nhello\r\n0\r\n\r\n"),
      whole("many zeros", "5\r\nhello\r\n00000\r\n\r\n"),
      whole("upper case", "A\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
      whole("an extension", "5;a=b\r\nhello\r\n0\r\n\r\n"),
      whole("a quoted extension", "5;a=\"b;c\"\r\nhello\r\n0;d\r\n\r\n"),
      whole("an empty extension", "5;\r\nhello\r\n0\r\n\r\n"),
      whole("line ends inside", "b\r\na\r\n0\r\n\r\nb\r\n\r\n0\r\n\r\n", "a\r\n0\r\n\r\nb\r\n"),
      whole("a request in an extension", "5;GET /smuggled HTTP/1.1\r\nhello\r\n0\r\n\r\n"),
    ]
}
