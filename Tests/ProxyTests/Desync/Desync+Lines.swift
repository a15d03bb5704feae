extension Desync {
  // MARK: Class 4

  static let lines: [DesyncCase] = badFields + badRequestLines + tooMuch + goodLines

  private static let badFields: [DesyncCase] = [
    "X\u{0}: y", "X: a\u{0}b", "X: a\rb", "X: a\nb", "X: \r", "X: a\r\rb", "X: a\u{1}b", "X: a\u{8}b", "X: a\u{b}b",
    "X: a\u{1b}b", "X: a\u{7f}b", "X : y", "X\t: y", " X: y", "\tX: y", "X: y\r\n z", "X: y\r\n\tz", "X: y\r\n ", ": y",
    ":",
    "X", "X y", "=", "(X): y", "X/Y: z", "X;Y: z", "X@Y: z", "X[Y]: z", "X{Y}: z", "X<Y: z", "X\"Y: z", "X\\Y: z",
    "X,Y: z",
    "X=Y: z", "X?: z", "\u{e4}: y", "X\u{a0}: y", "\u{feff}X: y", "X\u{7f}: y", "X Y: z", "\rX: y", "\nX: y", "X\r: y",
    "X\n: y",
  ].map { .refused("field `\(shown($0))`", get("\($0)\r\n")) }

  private static let badRequestLines: [DesyncCase] =
    [
      "GET  / HTTP/1.1", "GET /  HTTP/1.1", "GET\t/ HTTP/1.1", "GET /\tHTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ",
      "GET /", "GET", "GET / ", "/ HTTP/1.1", "GET HTTP/1.1", "GET / http/1.1", "GET / HTTP/1.1\u{b}",
      "GET / HTTP 1.1", "GET / HTTP/1", "GET / HTTP/1.", "GET / HTTP/.1", "GET / HTTP/01.1", "GET / HTTP/1.01",
      "GET / HTTP/1.10", "GET / HTTP/11", "GET / HTTP/1,1", "GET / HTTPS/1.1", "GET / HTTP/1.1\r", "GET / HTTP/+1.1",
      "GET / HTTP/1.1 HTTP/1.1", "GET / x HTTP/1.1", "G\u{0}ET / HTTP/1.1", "GE T / HTTP/1.1", "G(ET / HTTP/1.1",
      "GET: / HTTP/1.1", "\u{e4}GET / HTTP/1.1", "\u{feff}GET / HTTP/1.1", "GET\u{a0}/ HTTP/1.1", "\"GET\" / HTTP/1.1",
      "GET\r/ HTTP/1.1", "GET / HTTP/1.1\rHost: a", "GET / HTTP/1.1\nHost: a", "\u{b}GET / HTTP/1.1",
      "\nGET / HTTP/1.1",
      "\rGET / HTTP/1.1", "\r\n\r\nGET / HTTP/1.1", "\r\n GET / HTTP/1.1", "HTTP/1.1 200 OK",
      String(repeating: "G", count: 33) + " / HTTP/1.1",
    ].map { .refused("request line `\(shown($0))`", "\($0)\r\n\(host)\r\n") } + [
      .refused("HTTP/2.0", "GET / HTTP/2.0\r\n\(host)\r\n", 505),
      .refused("HTTP/3.0", "GET / HTTP/3.0\r\n\(host)\r\n", 505),
      .refused("HTTP/0.9", "GET / HTTP/0.9\r\n\(host)\r\n", 505),
      .refused("HTTP/1.2", "GET / HTTP/1.2\r\n\(host)\r\n", 505),
      .refused("HTTP/1.9", "GET / HTTP/1.9\r\n\(host)\r\n", 505),
      .refused("line feeds alone", "GET / HTTP/1.1\nHost: gateway.test\n\n"),
      .refused("a line feed at the end", "GET / HTTP/1.1\r\nHost: gateway.test\r\n\n"),
      .refused("a line feed behind the request line", "GET / HTTP/1.1\nHost: gateway.test\r\n\r\n"),
    ]

  private static let tooMuch: [DesyncCase] = [
    .refused("a target of 8 KiB and one", "GET /\(String(repeating: "a", count: 8192)) HTTP/1.1\r\n\(host)\r\n", 414),
    .refused("a hundred fields and one", get(String(repeating: "X: y\r\n", count: 100)), 431),
    .refused("empty fields without end", get(String(repeating: "X:\r\n", count: 3_000)), 431),
    .refused("a field of 17 KiB", get("X: \(String(repeating: "y", count: 17_000))\r\n"), 431),
    .refused("a name of 17 KiB", get("\(String(repeating: "y", count: 17_000)): x\r\n"), 431),
  ]

  private static let goodLines: [DesyncCase] = [
    .forwarded("one empty line before", "\r\n" + get(""), CanonicalRequest()),
    .forwarded("a value with a tab", get("X: a\tb\r\n"), CanonicalRequest(fields: ["X: a\tb"])),
    .forwarded("an empty value", get("X:\r\n"), CanonicalRequest(fields: ["X: "])),
    .forwarded("white space around", get("X: \t a \t\r\n"), CanonicalRequest(fields: ["X: a"])),
    .forwarded("bytes above ASCII", get("X: \u{e4}\u{301}\r\n"), CanonicalRequest(fields: ["X: \u{e4}\u{301}"])),
    .forwarded(
      "odd characters in a name", get("!#$%&'*+-.^_`|~: y\r\n"), CanonicalRequest()),
    .forwarded("colons in a value", get("X: a: b:c\r\n"), CanonicalRequest(fields: ["X: a: b:c"])),
    .forwarded(
      "a method of its own", "PURGE / HTTP/1.1\r\n\(host)\r\n", CanonicalRequest(method: "PURGE")),
    .forwarded("the same field twice", get("X: a\r\nx: b\r\n"), CanonicalRequest(fields: ["X: a", "x: b"])),
    .forwarded(
      "HTTP/1.0", "GET / HTTP/1.0\r\nHost: gateway.test\r\n\r\n", CanonicalRequest(via: "1.0", isLast: true)),
    .forwarded(
      "HTTP/1.0 without a host", "GET / HTTP/1.0\r\n\r\n", CanonicalRequest(host: nil, via: "1.0", isLast: true)),
  ]
}
