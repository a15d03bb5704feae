extension Desync {
  // MARK: Class 1

  static let transferCoding: [DesyncCase] = codings + codingNames + codingFields + codingVersions

  /// Values that some servers accept as `chunked` and others do not.
  private static let codings: [DesyncCase] = [
    "", " ", ",", "chunked, chunked", "chunked,identity", "identity", "identity, chunked", "gzip, chunked", "gzip",
    "chunked, gzip", "chunked;q=1", "chunked; x", "xchunked", "chunkedx", "\"chunked\"", "'chunked'", "chun ked",
    "chunked,", ",chunked", ", chunked", "chunked ,", "chunk", "chunke\u{64}\u{301}", "\u{ff43}hunked", "chunked\u{a0}",
    "chunked x", "x chunked", "compress, deflate", "none", "0", "true", "chunked=1", "(chunked)", "chunked#",
  ].flatMap { value in
    [
      DesyncCase.refused(
        "Transfer-Encoding `\(shown(value))`", post("Transfer-Encoding: \(value)\r\n", chunkedHello)),
      DesyncCase.refused(
        "Transfer-Encoding `\(shown(value))` and a length",
        post("Content-Length: 5\r\nTransfer-Encoding: \(value)\r\n", chunkedHello)),
    ]
  }

  /// Names that some servers accept as `Transfer-Encoding`.
  private static let codingNames: [DesyncCase] = [
    "Transfer_Encoding", "transfer_encoding", "Transfer.Encoding", "Transfer~Encoding", "Transfer!Encoding",
    "Transfer Encoding", " Transfer-Encoding", "\tTransfer-Encoding", "Transfer-Encoding ", "Transfer-Encoding\t",
    "\u{b}Transfer-Encoding", "\u{c}Transfer-Encoding", "Transfer-Encoding\u{b}", "Transfer-\u{0}Encoding",
    "\u{0}Transfer-Encoding", "Transfer-Encoding\u{0}", "X: y\nTransfer-Encoding", "X: y\rTransfer-Encoding",
    "X: y\r\n Transfer-Encoding", "X: y\r\n\tTransfer-Encoding", "X: y\n\rTransfer-Encoding",
    "Transfer\u{2010}Encoding",
    "\u{feff}Transfer-Encoding", "\"Transfer-Encoding\"", "Transfer-Encoding\r", "Transfer-Encoding\n",
    "\rTransfer-Encoding",
  ].map { .refused("`\(shown($0))`", post("Content-Length: 5\r\n\($0): chunked\r\n", chunkedHello)) }

  private static let codingFields: [DesyncCase] = [
    .refused("a length, then chunks", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", chunkedHello)),
    .refused("chunks, then a length", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", chunkedHello)),
    .refused("a length of 0 and chunks", post("Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", chunkedHello)),
    .refused("the true length and chunks", post("Content-Length: 15\r\nTransfer-Encoding: chunked\r\n", chunkedHello)),
    .refused("names in other cases", post("CONTENT-LENGTH: 5\r\ntransfer-encoding: CHUNKED\r\n", chunkedHello)),
    .refused("twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunkedHello)),
    .refused(
      "identity, then chunked", post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n", chunkedHello)),
    .refused("chunked, then nothing", post("Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n", chunkedHello)),
    .refused(
      "chunked, then another spelling", post("Transfer-Encoding: chunked\r\nTransfer_Encoding: x\r\n", chunkedHello)),
    .refused("a length in another spelling", post("Transfer-Encoding: chunked\r\nContent_Length: 5\r\n", chunkedHello)),
    .refused("a folded value", post("Transfer-Encoding:\r\n chunked\r\n", chunkedHello)),
    .refused("a folded value with a tab", post("Transfer-Encoding: \r\n\tchunked\r\n", chunkedHello)),
    .refused("a control before the value", post("Transfer-Encoding: \u{b}chunked\r\n", chunkedHello)),
    .refused("a NUL behind the value", post("Transfer-Encoding: chunked\u{0}\r\n", chunkedHello)),
    .refused("a return behind the value", post("Transfer-Encoding: chunked\r\r\n", chunkedHello)),
    .refused(
      "the option that removes it",
      post("Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n", chunkedHello)),
    .refused(
      "the option that removes the length", post("Connection: content-length\r\nContent-Length: 5\r\n", "hello")),
    .forwarded(
      "in another case", post("tRANSFER-eNCODING: Chunked\r\n", chunkedHello),
      CanonicalRequest(method: "POST", body: .chunked("hello"))),
    .forwarded(
      "white space around it", post("Transfer-Encoding: \t chunked \t\r\n", chunkedHello),
      CanonicalRequest(method: "POST", body: .chunked("hello"))),
    .forwarded(
      "no white space", post("Transfer-Encoding:chunked\r\n", chunkedHello),
      CanonicalRequest(method: "POST", body: .chunked("hello"))),
    .forwarded(
      "with GET", get("Transfer-Encoding: chunked\r\n") + chunkedHello, CanonicalRequest(body: .chunked("hello"))),
    .forwarded(
      "a request inside",
      post("Transfer-Encoding: chunked\r\n", "\(String(inner.utf8.count, radix: 16))\r\n\(inner)\r\n0\r\n\r\n"),
      CanonicalRequest(method: "POST", body: .chunked(inner))),
    .forwarded(
      "a name that only resembles", post("X-Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "hello"),
      CanonicalRequest(method: "POST", fields: ["X-Transfer-Encoding: chunked"], body: .length("hello"))),
  ]

  private static let codingVersions: [DesyncCase] = [
    .refused("chunks in HTTP/1.0", post("Transfer-Encoding: chunked\r\n", chunkedHello, version: "1.0")),
    .refused(
      "chunks in a kept HTTP/1.0",
      post("Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n", chunkedHello, version: "1.0")),
    .refused(
      "chunks and a length in HTTP/1.0",
      post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", chunkedHello, version: "1.0")),
    .refused(
      "identity in HTTP/1.0", post("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello", version: "1.0")),
  ]

  // MARK: Class 2

  static let contentLength: [DesyncCase] =
    [
      "", " ", "+5", "-5", "5,5", "5, 5", "5,6", ",5", "5,", "5 5", "5 ;", "5;", "0x5", "5.0", "5e0", "1_0", "\"5\"",
      "'5'",
      "\u{665}", "\u{ff15}", "5\u{a0}", "five", "5a", "a5", "-0", "+0", "99999999999999999999", "18446744073709551621",
      "9223372036854775808", "9223372036854775807", "36893488147419103237", "1000000000000000000", "(5)", "5=5",
      "0b101",
      "NaN", "5\u{0}", "\u{b}5", "5\u{b}", "5\r",
    ].map { .refused("Content-Length `\(shown($0))`", post("Content-Length: \($0)\r\n", "hello")) }
    + ["Content_Length", "content_length", "Content.Length", "Content~Length"].map {
      .refused("`\($0)` beside the length", post("\($0): 0\r\nContent-Length: 5\r\n", "hello"))
    }
    + [
      "Content Length", "Content-Length ", " Content-Length", "Content-Length\t", "\u{b}Content-Length",
      "Content-Length\u{0}", "Content-\rLength", "X: y\nContent-Length", "X: y\rContent-Length",
      "X: y\r\n Content-Length",
    ].map { .refused("`\(shown($0))`", post("\($0): 5\r\n", "hello")) } + lengths

  private static let lengths: [DesyncCase] = [
    .refused("the same twice", post("Content-Length: 5\r\nContent-Length: 5\r\n", "hello")),
    .refused("two", post("Content-Length: 5\r\nContent-Length: 6\r\n", "hello")),
    .refused("two, far apart", post("Content-Length: 0\r\nA: b\r\nC: d\r\ncontent-length: 5\r\n", "hello")),
    .refused("one without a value", post("Content-Length:\r\nContent-Length: 5\r\n", "hello")),
    .forwarded(
      "leading zeros", post("Content-Length: 0005\r\n", "hello"),
      CanonicalRequest(method: "POST", body: .length("hello"))),
    .forwarded(
      "white space", post("Content-Length:\t 5 \t\r\n", "hello"),
      CanonicalRequest(method: "POST", body: .length("hello"))),
    .forwarded("none", post("", ""), CanonicalRequest(method: "POST")),
    .forwarded("0", post("Content-Length: 0\r\n", ""), CanonicalRequest(method: "POST")),
    .forwarded("00", post("Content-Length: 00\r\n", ""), CanonicalRequest(method: "POST")),
    .forwarded("with GET", get("Content-Length: 5\r\n") + "hello", CanonicalRequest(body: .length("hello"))),
    .forwarded(
      "0 with GET", get("Content-Length: 0\r\n"), CanonicalRequest()),
    .forwarded(
      "with HEAD", "HEAD / HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello",
      CanonicalRequest(method: "HEAD", body: .length("hello"))),
    .forwarded(
      "with DELETE", "DELETE / HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello",
      CanonicalRequest(method: "DELETE", body: .length("hello"))),
    .forwarded(
      "a request inside", post("Content-Length: \(inner.utf8.count)\r\n", inner),
      CanonicalRequest(method: "POST", body: .length(inner))),
    .forwarded(
      "a request inside GET", get("Content-Length: \(inner.utf8.count)\r\n") + inner,
      CanonicalRequest(body: .length(inner))),
  ]
}
