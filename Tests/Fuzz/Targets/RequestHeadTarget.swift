import HTTP1
import Reactor

@testable import Proxy

/// Input: a byte of settings, then bytes of a client. An accepted request has one reading, and exactly that goes
/// upstream.
enum RequestHeadTarget {
  private static let cookie = "__Host-private"
  /// Fields that are never forwarded, from any client.
  private static let stopped: Set<String> = [
    "connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "http2-settings", "expect",
    "transfer-encoding", "content-length", "x-original-url", "x-rewrite-url", "x-host", "proxy",
  ]
  /// Fields that are forwarded for trusted proxies only.
  private static let claims: Set<String> = [
    "x-real-ip", "remote-user", "x-forwarded-port", "x-forwarded-prefix", "client-cert", "iv-user", "sm-user", "-wsru",
    "x-arr-ssl", "wl-proxy-ssl", "x-case",
  ]

  static func check(_ input: [UInt8]) throws(Violation) {
    guard let options = input.first, input.count <= Buffer.readSize else { return }
    let bytes = Array(input.dropFirst())
    let length = try scan(bytes, seed: options)
    guard let length else { return }
    let index = HeadIndex()
    guard let head = try? RequestHeadParser.parse(bytes.span, length: length, into: index) else { return }
    let seen = try read(head, index, bytes)
    try rewrite(head, index, bytes, seen, options: options)
  }

  /// Finds the end of the head, at once and piece by piece, and compares the results.
  private static func scan(_ bytes: [UInt8], seed: UInt8) throws(Violation) -> Int? {
    var whole = HeadScanner()
    let expected = Result { try whole.end(of: bytes.span) }
    var scanner = HeadScanner()
    var splits = Splits(seed: seed)
    var count = 0
    var found: Result<Int?, any Error> = .success(nil)
    while count < bytes.count {
      count = min(bytes.count, count + splits.next(limit: 40))
      found = Result { try scanner.end(of: bytes.span.extracting(0..<count)) }
      if case .success(nil) = found { continue }
      break
    }
    switch (expected, found) {
    case (.success(let one), .success(let other)):
      try Violation.unless(one == other, "the head ends at \(one ?? -1), and piece by piece at \(other ?? -1)")
      return one
    case (.failure, .failure): return nil
    default: throw Violation("a head is refused or not, after how it arrives")
    }
  }

  /// The simple reading of an accepted head, after all comparisons with the parser's.
  private static func read(
    _ head: RequestHead, _ index: HeadIndex, _ bytes: [UInt8]
  ) throws(Violation) -> FieldReader {
    let text = Array(bytes[..<head.length])
    guard let seen = FieldReader(text) else { throw Violation("accepted, and not lines of fields") }
    for line in FieldReader.lines(text) where FieldReader.hasSecondReading(line) {
      throw Violation("accepted with a control character in a line")
    }
    let fields = index.map { FieldReader.Field(name: name(bytes, $0), value: Array(bytes[$0.value])) }
    try Violation.unless(fields == seen.fields, "the fields are read in two ways")
    let parts = seen.startLine.split(separator: 0x20, omittingEmptySubsequences: false)
    try Violation.unless(parts.count == 3, "the request line has \(parts.count) parts")
    try Violation.unless(Array(parts[0]) == Array(bytes[head.methodRange]), "the method is read in two ways")
    try Violation.unless(
      Array(parts[2]) == Array("HTTP/1.\(head.minorVersion)".utf8), "the version is read in two ways")
    try checkTarget(Array(parts[1]), head, bytes)
    try checkHost(seen, head, bytes)
    guard let framing = seen.framing else { throw Violation("accepted with framing of two readings") }
    try Violation.unless(framing == reference(head.body) || framing == .length(0), "framing is read in two ways")
    try Violation.unless(framing != .chunked || head.minorVersion == 1, "chunks in HTTP/1.0")
    return seen
  }

  private static func name(_ bytes: [UInt8], _ field: HeadIndex.Field) -> String {
    String(decoding: bytes[field.name], as: UTF8.self).lowercased()
  }

  static func reference(_ body: BodyFraming) -> ReferenceFraming {
    switch body {
    case .none, .untilClose: .absent
    case .length(let count): .length(count)
    case .chunked: .chunked
    }
  }

  private static func checkTarget(_ target: [UInt8], _ head: RequestHead, _ bytes: [UInt8]) throws(Violation) {
    try Violation.unless(!target.contains(UInt8(ascii: "#")), "a fragment in the target")
    try Violation.unless(!target.contains { [0x22, 0x3c, 0x3e].contains($0) }, "a character that browsers encode")
    try Violation.unless(target.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a target that is not visible ASCII")
    let found = Array(bytes[head.target])
    try Violation.unless(target.suffix(found.count).elementsEqual(found), "the target is not the end of what was sent")
    try Violation.unless(
      found.isEmpty || found.first == UInt8(ascii: "/") || found == [UInt8(ascii: "*")], "a target in a fifth form")
    let path = found.prefix { $0 != UInt8(ascii: "?") }
    try Violation.unless(Array(bytes[head.path]) == Array(path), "the path is read in two ways")
    let query = path.count < found.count ? Array(found[(path.count + 1)...]) : nil
    try Violation.unless(head.query.map { Array(bytes[$0]) } == query, "the query is read in two ways")
  }

  private static func checkHost(_ seen: FieldReader, _ head: RequestHead, _ bytes: [UInt8]) throws(Violation) {
    let hosts = seen.all("host")
    try Violation.unless(hosts.count == 1 || (hosts.isEmpty && head.minorVersion == 0), "\(hosts.count) hosts")
    for host in hosts.map(\.value) + [head.host.map { Array(bytes[$0]) } ?? hosts.first?.value ?? [0x61]] {
      let forbidden = Set("@/\\?# \t,;\"'<>".utf8)
      try Violation.unless(!host.isEmpty && forbidden.isDisjoint(with: host), "a host with two readings")
    }
  }

  /// Writes the request for the upstream and parses it again.
  private static func rewrite(
    _ head: RequestHead, _ index: HeadIndex, _ bytes: [UInt8], _ seen: FieldReader, options: UInt8
  ) throws(Violation) {
    guard let peer = Address(literal: options & 2 == 0 ? "192.0.2.1" : "2001:db8::1", port: 1) else { return }
    var configuration = ProxyConfiguration()
    configuration.upstreamAuthority = "upstream.test"
    configuration.handlerCookie = cookie
    configuration.upgrades = options & 4 == 0 ? [] : ["websocket"]
    let isTrusted = options & 1 == 1
    let settings = CompiledProxyConfiguration(configuration)
    guard let buffer = BufferPool(reserve: 0).take() else { throw Violation("no memory") }
    _ = RequestRewriter.write(
      head, bytes.span, index, ClientIdentity(peer, trusts: { _ in isTrusted }), settings, to: buffer)
    RequestRewriter.writeEnd(head.method, head.body, to: buffer)
    let sent = buffer.bytes(from: 0, count: buffer.count)
    var scanner = HeadScanner()
    let second = HeadIndex()
    // With the gateway's own fields, a request of nearly a hundred fields has more than the gateway itself would
    // accept.
    guard index.count <= HeadIndex.fieldLimit - 8 else { return }
    guard let end = try? scanner.end(of: sent.span), end == sent.count,
      let again = try? RequestHeadParser.parse(sent.span, length: end, into: second), let out = FieldReader(sent)
    else { throw Violation("what goes upstream is not one head that the gateway itself would accept") }

    let whole: Unicode.Scalar = head.method == .options ? "*" : "/"
    let target = head.target.isEmpty ? [UInt8(ascii: whole)] : Array(bytes[head.target])
    try Violation.unless(Array(sent[again.methodRange]) == Array(bytes[head.methodRange]), "another method upstream")
    try Violation.unless(Array(sent[again.target]) == target, "another target upstream")
    try Violation.unless(again.body == head.body, "other framing upstream")
    try Violation.unless(out.all("host").map(\.text) == ["upstream.test"], "another host upstream")
    try Violation.unless(again.minorVersion == 1 && !again.expectsContinue, "an expectation upstream")
    let upgrade = RequestRewriter.allowedUpgrade(head, bytes.span, settings)
    try Violation.unless(
      (again.upgrade == nil) == (upgrade == nil) && (upgrade == nil || options & 4 != 0), "an upgrade upstream")
    let asksForClose = head.body != .none && !head.method.serversReadContent
    let asksForTrailers = upgrade == nil && head.minorVersion == 1 && acceptsTrailers(seen)
    try Violation.unless(
      upgrade != nil
        || out.all("connection").map(\.text) == (asksForTrailers ? ["TE"] : []) + (asksForClose ? ["close"] : []),
      "another connection option upstream")
    try Violation.unless(out.all("te").map(\.text) == (asksForTrailers ? ["trailers"] : []), "another TE upstream")
    for name in stopped {
      let own = ["content-length", "transfer-encoding", "te", "connection"].contains(name)
      try Violation.unless(
        own || (upgrade != nil && name == "upgrade") || !out.has(name), "`\(name)` went upstream")
      try Violation.unless(out.disguises(of: name) == 0, "`\(name)` went upstream in disguise")
    }
    for name in claims where !isTrusted {
      try Violation.unless(name == "x-case" || !out.has(name), "`\(name)` went upstream")
      try Violation.unless(out.disguises(of: name) == 0, "`\(name)` went upstream in disguise")
    }
    for name in ["x-forwarded-for", "x-forwarded-proto", "forwarded"] {
      try Violation.unless(out.all(name).count == 1, "\(out.all(name).count) of `\(name)`")
    }
    try checkPassed(index, bytes, second, sent, settings, isTrusted: isTrusted)
    try checkCookies(seen, out)
  }

  private static func acceptsTrailers(_ seen: FieldReader) -> Bool {
    func lists(_ name: String, _ word: String) -> Bool {
      seen.all(name).flatMap { FieldReader.parts($0.value, at: ",") }.contains {
        String(decoding: $0, as: UTF8.self).lowercased() == word
      }
    }
    return lists("connection", "te") && lists("te", "trailers")
  }

  /// All fields without a meaning for the gateway are forwarded in their order, except hop-by-hop fields.
  private static func checkPassed(
    _ index: HeadIndex, _ bytes: [UInt8], _ second: HeadIndex, _ sent: [UInt8], _ settings: CompiledProxyConfiguration,
    isTrusted: Bool
  ) throws(Violation) {
    let before = index.filter {
      isForeign($0) && !$0.isNamedByConnection
        && settings.identityFields.mayForward($0, of: index, bytes.span, isTrusted: isTrusted)
    }
    let after = second.filter(isForeign)
    let sameNames = before.map { Array(bytes[$0.name]) } == after.map { Array(sent[$0.name]) }
    let sameValues = before.map { Array(bytes[$0.value]) } == after.map { Array(sent[$0.value]) }
    try Violation.unless(sameNames && sameValues, "fields were lost or made")
  }

  private static func isForeign(_ field: HeadIndex.Field) -> Bool {
    [.none, .common, .identity, .irregular].contains(field.known)
  }

  private static func checkCookies(_ seen: FieldReader, _ out: FieldReader) throws(Violation) {
    func pairs(_ reader: FieldReader) -> [[UInt8]] {
      reader.all("cookie").flatMap { FieldReader.parts($0.value, at: ";") }.filter { !$0.isEmpty }
    }
    func isPrivate(_ pair: [UInt8]) -> Bool {
      let name = FieldReader.trimmed(pair.prefix { $0 != UInt8(ascii: "=") })
      return String(decoding: name, as: UTF8.self).lowercased() == cookie.lowercased()
    }
    let kept = pairs(out)
    try Violation.unless(!kept.contains(where: isPrivate), "the private cookie went upstream")
    try Violation.unless(kept == pairs(seen).filter { !isPrivate($0) }, "other cookies were lost or made")
  }
}
