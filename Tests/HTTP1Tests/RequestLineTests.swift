import FoundationEssentials
import HTTP1
import Testing

struct RequestLineTests {
  @Test("A request line is split at its two spaces")
  func simple() throws {
    let parsed = try #require(try parseRequest("GET /a/b?x=1&y=?2 HTTP/1.1\r\nHost: a.example\r\n\r\nrest"))
    #expect(parsed.head.method == .get)
    #expect(parsed.text(parsed.head.methodRange) == "GET")
    #expect(parsed.text(parsed.head.target) == "/a/b?x=1&y=?2")
    #expect(parsed.text(parsed.head.path) == "/a/b")
    #expect(parsed.text(parsed.head.query) == "x=1&y=?2")
    #expect(parsed.head.minorVersion == 1)
    #expect(parsed.head.length == parsed.bytes.count - 4)
  }

  @Test(
    "Methods are case-sensitive",
    arguments: [
      ("GET", Method.get), ("HEAD", .head), ("POST", .post), ("PUT", .put), ("DELETE", .delete), ("PATCH", .patch),
      ("OPTIONS", .options), ("get", .other), ("Post", .other), ("PROPFIND", .other), ("G", .other),
    ])
  func methods(_ name: String, _ method: Method) throws {
    let parsed = try #require(try parseRequest("\(name) / HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(parsed.head.method == method)
    #expect(Method(name) == method)
  }

  @Test("Only idempotent methods may be sent twice")
  func idempotence() {
    #expect([Method.get, .head, .put, .delete, .options].allSatisfy { $0.isIdempotent })
    #expect(![Method.post, .patch, .trace, .connect, .other].contains { $0.isIdempotent })
  }

  @Test("Servers read the content of POST, PUT and PATCH, and may ignore that of every other method")
  func content() {
    #expect([Method.post, .put, .patch].allSatisfy { $0.serversReadContent })
    #expect(![Method.get, .head, .delete, .options, .trace, .connect, .other].contains { $0.serversReadContent })
  }

  @Test(
    "A malformed request line is refused with 400",
    arguments: [
      "GET  / HTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ", "GET /  HTTP/1.1", "GET\t/ HTTP/1.1", "GET /\tHTTP/1.1",
      "GET / x HTTP/1.1", "GET HTTP/1.1", "GET /", "GET", "", "GET / http/1.1", "GET / HTTP/1", "GET / HTTP/1.1.1",
      "GET / HTTP/11", "GET / HTTP1.1", "GET / HTTP/a.1", "GET / HTTP/1.a", "GET / HTTP/ 1.1", "GET / HTTP/1.10",
      "GET / XTTP/1.1", "GET : HTTP/1.1", "G(T / HTTP/1.1", "G\u{0}T / HTTP/1.1", "GET /\u{0} HTTP/1.1",
      "GET /\u{1f} HTTP/1.1", "GET /\u{7f} HTTP/1.1", "GET /\u{e9} HTTP/1.1", "GET / HTTP/1.1\u{0}",
      "GET /#fragment HTTP/1.1", "GET /a#b?c HTTP/1.1", "GET / HTTP/1.1\rX", "GET /\r HTTP/1.1", "\rGET / HTTP/1.1",
      "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1",
    ])
  func malformed(_ line: String) {
    #expect(refusal("\(line)\r\nHost: a\r\n\r\n") == 400)
  }

  @Test("Each byte of a target is accepted, accepted if the caller permits unencoded targets, or refused")
  func targetBytes() throws {
    var limits = HeadLimits.standard
    limits.acceptsUnencodedTargets = true
    for byte in UInt8.min...UInt8.max {
      for target in [[0x2f, byte], [0x2f, byte, 0x61, 0x3f], [0x2f, 0x3f, 0x61, byte, byte, 0x62]] {
        let bytes = Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
        let isUnencoded = byte >= 0x80 || "\"<>".utf8.contains(byte)
        let isRefused = byte <= 0x20 || byte == 0x7f || byte == UInt8(ascii: "#")
        #expect((refusal(bytes) == 400) == (isUnencoded || isRefused), "\(byte)")
        guard !isRefused else {
          #expect(throws: MessageError.self) { try parseRequest(bytes, limits: limits) }
          continue
        }
        let parsed = try #require(try parseRequest(bytes, limits: limits))
        #expect(Array(parsed.bytes[parsed.head.target]) == target)
        #expect(parsed.head.hasUnencodedTarget == isUnencoded)
      }
    }
  }

  @Test("The fields of an accepted head are read again without the limits, and those of another head are not")
  func restored() throws {
    let parsed = try #require(try parseRequest("GET /a HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nConnection: X-A\r\n\r\n"))
    let index = HeadIndex()
    try RequestHeadParser.restoreFields(of: parsed.head, parsed.bytes.span, into: index)
    #expect(index.map(\.name) == parsed.index.map(\.name))
    #expect(index.map(\.isNamedByConnection) == parsed.index.map(\.isNamedByConnection))
    let other = [UInt8](repeating: 0x0d, count: parsed.bytes.count)
    #expect(throws: MessageError.self) {
      try RequestHeadParser.restoreFields(of: parsed.head, other.span, into: index)
    }
  }

  /// The targets that browsers sent, one for each visible character in the path and in the query.
  private static let browserTargets: [String] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Browsers/targets.txt")
    guard let data = try? Data(contentsOf: file) else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst().map(String.init)
  }()

  @Test("Every target that a browser sends is accepted unchanged")
  func browsers() throws {
    #expect(Self.browserTargets.count == 184)
    for target in Self.browserTargets {
      let parsed = try #require(try parseRequest("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n"), "\(target)")
      #expect(parsed.text(parsed.head.target) == target)
    }
  }

  @Test("In a target, exactly the visible characters that every browser encodes are refused")
  func unencoded() {
    let sent = Set(Self.browserTargets.joined().utf8)
    for byte in UInt8(0x21)...0x7e {
      let character = String(UnicodeScalar(byte))
      for target in ["/a\(character)b", "/a?b\(character)c", "https://a/\(character)"] {
        #expect((refusal("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == 400) == !sent.contains(byte), "\(target)")
      }
    }
  }

  @Test("Versions other than 1.0 and 1.1 are refused with 505", arguments: ["0.9", "1.2", "1.9", "2.0", "3.0", "9.9"])
  func versions(_ version: String) {
    #expect(refusal("GET / HTTP/\(version)\r\nHost: a\r\n\r\n") == 505)
  }

  @Test("The HTTP/2 preface is refused with 505")
  func preface() {
    #expect(refusal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == 505)
  }

  @Test("One empty line before the request line is ignored, and two are refused")
  func emptyLines() throws {
    let parsed = try #require(try parseRequest("\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(parsed.text(parsed.head.target) == "/x")
    #expect(parsed.head.length == parsed.bytes.count)
    #expect(refusal("\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n") == 400)
    #expect(try parseRequest("\r\n") == nil)
  }

  @Test("A target of 8 KiB is accepted, and a longer one is refused with 414")
  func targetLimit() throws {
    let longest = "/" + String(repeating: "a", count: HeadLimits.standard.target - 1)
    #expect(refusal("GET \(longest) HTTP/1.1\r\nHost: a\r\n\r\n") == nil)
    #expect(refusal("GET \(longest)a HTTP/1.1\r\nHost: a\r\n\r\n") == 414)
  }

  @Test("TRACE and CONNECT are refused with 405", arguments: ["TRACE / ", "CONNECT a.example:443 ", "CONNECT / "])
  func unservedMethods(_ line: String) {
    #expect(refusal("\(line)HTTP/1.1\r\nHost: a\r\n\r\n") == 405)
  }
}

struct RequestTargetTests {
  @Test("The authority of an absolute-form target replaces Host")
  func absoluteForm() throws {
    let parsed = try #require(try parseRequest("GET HTTP://b.example:81/p?q HTTP/1.1\r\nHost: a.example\r\n\r\n"))
    #expect(parsed.text(parsed.head.host) == "b.example:81")
    #expect(parsed.text(parsed.head.target) == "/p?q")
    #expect(parsed.text(parsed.head.path) == "/p")
  }

  @Test("An absolute-form target without a path has an empty one")
  func emptyPath() throws {
    let parsed = try #require(try parseRequest("GET https://b.example HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(parsed.head.target.isEmpty)
    #expect(parsed.text(parsed.head.host) == "b.example")
  }

  @Test("The asterisk is accepted for OPTIONS only")
  func asterisk() throws {
    let parsed = try #require(try parseRequest("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(parsed.head.isAsterisk)
    #expect(refusal("GET * HTTP/1.1\r\nHost: a\r\n\r\n") == 400)
    #expect(refusal("OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n") == 400)
  }

  @Test(
    "A target of another form is refused",
    arguments: [
      "a", "a/b", "a.example:80", "?x", "ftp://a/", "http:/a", "http://", "http:///", "http://?x", "http://a?x",
      "http://u@a/", "http://u:p@a/", "http://a:/", "http://a:0/", "http://a:65536/", "http://a:80:80/", "http://a b/",
      "http://[::1/", "http://[]/", "http://[g]/", "http://%61/", "//", "javascript:1", "http:a", "https:/", "h",
      "http:",
    ].filter { $0 != "//" })
  func otherForms(_ target: String) {
    #expect(refusal("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n") == 400)
  }

  @Test(
    "A host is a name or an address literal, with or without a port",
    arguments: [
      "a", "A.example", "a.example:1", "a.example:65535", "127.0.0.1:8080", "[::1]", "[::1]:80", "[2001:db8::1.2.3.4]",
      "a_b.example", "xn--e1afmkfd.example",
    ])
  func validHosts(_ host: String) throws {
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: \t\(host) \t\r\n\r\n"))
    #expect(parsed.text(parsed.head.host) == host)
  }

  @Test(
    "Any other Host is refused",
    arguments: [
      "", " ", "a b", "a@b", "user:pass@a", "a/b", "a?b", "a#b", "a\\b", "a:", "a:x", "a:0", "a:65536", "a:000080",
      "a:80 ,b",
      "a, b", "a,b", ":80", "[::1", "::1", "[::1]x", "[::1]:", "[", "[]", "[v1.a]", "[fe80::1%25eth0]", "%61",
      "a\u{e9}", "a\"",
      "a;b", "a:+80", "a:-1", "http://a", String(repeating: "a", count: 262),
    ])
  func invalidHosts(_ host: String) {
    #expect(refusal("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n") == 400)
  }

  @Test("HTTP/1.1 needs exactly one Host, HTTP/1.0 at most one")
  func hostCount() throws {
    #expect(refusal("GET / HTTP/1.1\r\n\r\n") == 400)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == 400)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n") == 400)
    #expect(refusal("GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == 400)
    #expect(refusal("GET http://a/ HTTP/1.1\r\n\r\n") == 400)
    #expect(refusal("GET http://a/ HTTP/1.1\r\nHost: u@a\r\n\r\n") == 400)
    #expect(refusal("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n") == 400)
    let parsed = try #require(try parseRequest("GET / HTTP/1.0\r\n\r\n"))
    #expect(parsed.head.host == nil)
  }
}
