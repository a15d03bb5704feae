import HTTP1
import Reactor

@testable import Proxy

/// Input: a byte of settings, then bytes of an upstream. The client gets exactly the one reading that was accepted.
enum ResponseHeadTarget {
  private static let cookie = "__Host-private"
  private static let stopped = [
    "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "http2-settings",
  ]

  static func check(_ input: [UInt8]) throws(Violation) {
    guard let options = input.first, input.count <= Buffer.readSize else { return }
    let bytes = Array(input.dropFirst())
    let method = options & 1 == 0 ? Method.get : .head
    var scanner = HeadScanner()
    let index = HeadIndex()
    guard let length = try? scanner.end(of: bytes.span),
      let head = try? ResponseHeadParser.parse(bytes.span, length: length, to: method, into: index)
    else { return }
    try read(head, index, bytes, method)
    // Interim responses are not forwarded.
    if head.status >= 200 { try rewrite(head, index, bytes, method, options) }
  }

  private static func read(
    _ head: ResponseHead, _ index: HeadIndex, _ bytes: [UInt8], _ method: Method
  ) throws(Violation) {
    let text = Array(bytes[..<head.length])
    guard let seen = FieldReader(text), text.first == UInt8(ascii: "H") else {
      throw Violation("accepted, and not lines of fields")
    }
    for line in FieldReader.lines(text) where FieldReader.hasSecondReading(line) {
      throw Violation("accepted with a control character in a line")
    }
    let names = index.map { String(decoding: bytes[$0.name], as: UTF8.self).lowercased() }
    try Violation.unless(
      names == seen.fields.map(\.name) && index.map { Array(bytes[$0.value]) } == seen.fields.map(\.value),
      "the fields are read in two ways")
    let start = String(decoding: seen.startLine.prefix(12), as: UTF8.self)
    try Violation.unless(start == "HTTP/1.\(head.minorVersion) \(head.status)", "the status is read in two ways")
    guard let framing = seen.framing else { throw Violation("accepted with framing of two readings") }
    let hasNone = method == .head || head.status < 200 || head.status == 204 || head.status == 304
    switch framing {
    case .chunked: try Violation.unless(head.body == (hasNone ? .none : .chunked), "chunks are read in two ways")
    case .length(let count):
      try Violation.unless(
        head.body == (hasNone || count == 0 ? .none : .length(count)), "a length is read in two ways")
    case .absent: try Violation.unless(head.body == (hasNone ? .none : .untilClose), "no framing is read in two ways")
    }
    try Violation.unless(
      !(head.keepsAlive && (head.body == .untilClose || seen.elements("connection").contains("close"))),
      "a connection is kept that will be closed")
  }

  /// The number of the gateway's own fields in one response.
  private static let mostAdded = 8

  /// Writes the response for the client and parses it again.
  private static func rewrite(
    _ head: ResponseHead, _ index: HeadIndex, _ bytes: [UInt8], _ method: Method, _ options: UInt8
  ) throws(Violation) {
    // With as many fields as the gateway accepts there is no room for its own fields; clients have other limits.
    guard index.count + mostAdded <= HeadIndex.fieldLimit else { return }
    let minorVersion = options & 2 == 0 ? 1 : 0
    var configuration = ProxyConfiguration()
    configuration.handlerCookie = cookie
    var replacements = ResponseRewriter.Replacements()
    if options & 4 != 0, index.has(.location) { replacements.set(.location, "https://gateway.test/there") }
    let framing = ResponseRewriter.Framing(
      head.body, announcedLength: head.announcedLength, minorVersion: minorVersion)
    let keepsAlive = options & 8 != 0 && !framing.needsClose
    guard let buffer = BufferPool(reserve: 0).take() else { throw Violation("no memory") }
    ResponseRewriter.write(
      head, bytes.span, index, framing.field, keepsAlive: keepsAlive, minorVersion: minorVersion, replacements,
      nil, CompiledProxyConfiguration(configuration), to: buffer)
    let sent = buffer.bytes(from: 0, count: buffer.count)
    var scanner = HeadScanner()
    let second = HeadIndex()
    guard let end = try? scanner.end(of: sent.span), end == sent.count,
      let again = try? ResponseHeadParser.parse(sent.span, length: end, to: method, into: second),
      let out = FieldReader(sent)
    else { throw Violation("what goes to the client is not one head that the gateway itself would accept") }

    try Violation.unless(
      again.status == head.status && Array(sent[again.reason]) == Array(bytes[head.reason]), "another status line")
    try Violation.unless(
      out.has("connection") == (!keepsAlive || minorVersion == 0), "the connection's end is not told")
    let expected: BodyFraming =
      switch head.body {
      case .none, .length: head.body
      case .chunked, .untilClose: minorVersion == 1 ? .chunked : .untilClose
      }
    // Without a body and a length the head is the end, which only some statuses imply.
    let isPlain = method != .head && head.status != 204 && head.status != 304
    try Violation.unless(
      again.body == expected || (head.body == .none && !isPlain), "framing is \(again.body) where it was \(head.body)")
    try Violation.unless(
      head.status != 204 || (!out.has("content-length") && !out.has("transfer-encoding")), "framing in a 204")
    for name in stopped { try Violation.unless(!out.has(name), "`\(name)` went to the client") }
    try Violation.unless(!out.all("set-cookie").contains(where: setsPrivate), "the upstream sets the private cookie")
    if replacements.location != nil {
      try Violation.unless(
        out.all("location").map(\.text) == ["https://gateway.test/there"], "a second Location field remains")
    }
    let before = index.filter { $0.known == .none && !$0.isNamedByConnection }
    let after = second.filter { $0.known == .none }
    try Violation.unless(
      before.map { Array(bytes[$0.name]) } == after.map { Array(sent[$0.name]) }
        && before.map { Array(bytes[$0.value]) } == after.map { Array(sent[$0.value]) }, "fields were lost or made")
  }

  /// Parses the field as the most lenient browser does.
  private static func setsPrivate(_ field: FieldReader.Field) -> Bool {
    let pair = field.value.prefix { $0 != UInt8(ascii: ";") }.drop { [0x3d, 0x20, 0x09].contains($0) }
    let name = FieldReader.trimmed(pair.prefix { $0 != UInt8(ascii: "=") })
    return String(decoding: name, as: UTF8.self).lowercased() == cookie.lowercased()
  }
}
