extension Desync {
  // MARK: Class 6

  static let hops: [DesyncCase] = badOptions + goodHops

  /// Options that would remove a field on which another server's decision depends, and malformed options.
  private static let badOptions: [DesyncCase] =
    [
      "Host", "hOST", "Content-Length", "Content_Length", "Transfer-Encoding", "transfer.encoding", "Connection", "Via",
      "Date",
      "Server", "Cookie", "cookie, close", "close, Cookie", "Authorization", "keep-alive, Authorization",
      "Content-Type",
      "Content-Encoding", "Expect", "Location", "Set-Cookie", "Refresh", "Forwarded", "X-Forwarded-For",
      "X_Forwarded_For",
      "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP", "X-Original-URL", "Cache-Control", "Origin", "Referer",
      "DPoP",
      "X-HTTP-Method-Override", "Range", "Client-Cert", "Remote-User", "a b", "\"X-Hop\"", "X-Hop;", "X-Hop; q=1",
      "X@Hop", "X/Hop",
      "(X-Hop)", "X-Hop\u{e4}", "X-Hop\u{0}", "X-Hop=1",
    ].map { .refused("Connection `\(shown($0))`", get("Connection: \($0)\r\nX-Hop: 1\r\n")) } + [
      .refused("more options than anyone sends", get("Connection: \(String(repeating: "a, ", count: 40))\r\n")),
      .refused("options in two fields", get("Connection: close\r\nConnection: Host\r\n")),
    ]

  private static func stripped(
    _ name: String, _ fields: String, _ kept: [String] = [], isLast: Bool = false
  ) -> DesyncCase {
    .forwarded(name, get(fields), CanonicalRequest(fields: kept, isLast: isLast))
  }

  private static let goodHops: [DesyncCase] = [
    stripped("a named field", "Connection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\n", ["X-End: 2"]),
    stripped("a named field in other cases", "Connection: x-hop\r\nX-HOP: 1\r\n"),
    stripped("a named field in other spellings", "Connection: X-Hop\r\nX_Hop: 1\r\nX.Hop: 2\r\nx-hop: 3\r\n"),
    stripped("a named field that comes first", "X-Hop: 1\r\nConnection: X-Hop\r\n"),
    stripped("a name that nobody has", "Connection: X-Other\r\nX-Hop: 1\r\n", ["X-Hop: 1"]),
    stripped("empty options", "Connection: , ,X-Hop,,\r\nX-Hop: 1\r\n"), stripped("no option", "Connection:\r\n"),
    stripped("options in two fields that are good", "Connection: X-A\r\nconnection: X-B\r\nX-A: 1\r\nX-B: 2\r\n"),
    stripped("close", "Connection: close\r\n", isLast: true),
    stripped("close and keep-alive", "Connection: close, keep-alive\r\n", isLast: true),
    stripped("Keep-Alive", "Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n"),
    stripped("Keep-Alive without its option", "Keep-Alive: timeout=5\r\n"),
    stripped("Proxy-Connection", "Proxy-Connection: close\r\n"), stripped("TE", "TE: gzip\r\nConnection: TE\r\n"),
    .forwarded(
      "TE with trailers", get("TE: gzip;q=0.5, trailers\r\nConnection: TE\r\n"), CanonicalRequest(acceptsTrailers: true)
    ),
    .forwarded(
      "TE with trailers, and a body that a server may leave unread",
      get("TE: trailers\r\nConnection: TE\r\nContent-Length: 5\r\n") + "hello",
      CanonicalRequest(body: .length("hello"), acceptsTrailers: true)),
    .forwarded(
      "TE with trailers, and a body in chunks",
      "DELETE / HTTP/1.1\r\n\(host)TE: trailers\r\nConnection: TE\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\nhello\r\n0\r\n\r\n",
      CanonicalRequest(method: "DELETE", body: .chunked("hello"), acceptsTrailers: true)),
    stripped("TE without its option", "TE: trailers, deflate;q=0.5\r\n"),
    stripped("Trailer", "Trailer: Host, Cookie\r\n"),
    stripped("other spellings of them", "Keep_Alive: 5\r\nT.E: x\r\nProxy_Connection: close\r\n", []),
  ]

  // MARK: Class 7

  static let upgrades: [DesyncCase] =
    [
      "CONNECT gateway.test:443 HTTP/1.1", "CONNECT / HTTP/1.1", "CONNECT http://gateway.test/ HTTP/1.1",
      "CONNECT * HTTP/1.1",
      "CONNECT gateway.test:443 HTTP/1.0", "CONNECT :443 HTTP/1.1", "TRACE / HTTP/1.1", "TRACE * HTTP/1.1",
      "TRACE http://gateway.test/ HTTP/1.1", "TRACE / HTTP/1.0",
    ].map { .refused($0, "\($0)\r\n\(host)\r\n", 405) } + [
      .refused("CONNECT with a body", "CONNECT a:1 HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello", 405),
      .refused("TRACE with a body", "TRACE / HTTP/1.1\r\n\(host)Content-Length: 5\r\n\r\nhello", 405),
      .refused(
        "CONNECT that upgrades", "CONNECT a:1 HTTP/1.1\r\n\(host)Connection: upgrade\r\nUpgrade: h2c\r\n\r\n", 405),
      stripped("h2c", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
      stripped("h2c without its settings", "Connection: Upgrade\r\nUpgrade: h2c\r\n"),
      stripped("h2c without its option", "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
      stripped("h2c in another case", "connection: UPGRADE\r\nupgrade: H2C\r\n"),
      stripped("several protocols", "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n"),
      stripped("two upgrades", "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n"),
      stripped(
        "websocket", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n", ["Sec-WebSocket-Key: k"]),
      stripped("TLS", "Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n"),
      stripped("an upgrade in another spelling", "Connection: Upgrade\r\nHTTP2_Settings: AAMA\r\n"),
      .forwarded(
        "h2c with a body",
        post("Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: \(inner.utf8.count)\r\n", inner),
        CanonicalRequest(method: "POST", body: .length(inner))),
      .forwarded(
        "h2c in HTTP/1.0", "GET / HTTP/1.0\r\n\(host)Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        CanonicalRequest(via: "1.0", isLast: true)),
    ]

  // MARK: Class 8

  static let expectations: [DesyncCase] =
    ["", "100", "100-Continue, x", "200-ok", "100-continue;q=1", "100-continue 100-continue", "x"].map {
      .refused("Expect `\($0)`", post("Expect: \($0)\r\nContent-Length: 5\r\n", "hello"), 417)
    } + [
      .refused("two expectations", post("Expect: 100-continue\r\nExpect: x\r\nContent-Length: 5\r\n", "hello"), 417),
      .refused(
        "the same expectation twice",
        post("Expect: 100-continue\r\nExpect: 100-continue\r\nContent-Length: 5\r\n", "hello"), 417),
      .refused(
        "an expectation that cannot be met, and chunks",
        post("Expect: x\r\nTransfer-Encoding: chunked\r\n", chunkedHello), 417),
      .forwarded(
        "an expectation that is met", post("Expect: 100-continue\r\nContent-Length: 5\r\n", "hello"),
        CanonicalRequest(method: "POST", body: .length("hello"))),
      .forwarded(
        "an expectation in another case", post("expect: 100-CONTINUE\r\nTransfer-Encoding: chunked\r\n", chunkedHello),
        CanonicalRequest(method: "POST", body: .chunked("hello"))),
      .forwarded("an expectation without a body", get("Expect: 100-continue\r\n"), CanonicalRequest()),
      .forwarded(
        "an expectation in HTTP/1.0",
        "POST / HTTP/1.0\r\n\(host)Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
        CanonicalRequest(method: "POST", body: .length("hello"), via: "1.0", isLast: true)),
      .forwarded(
        "an expectation in another spelling", post("Ex.pect: x\r\nContent-Length: 0\r\n", ""),
        CanonicalRequest(method: "POST")),
    ]
}
