import HTTP1
import Testing

struct FieldTests {
  private func refused(_ field: String) -> Int? { refusal("GET / HTTP/1.1\r\nHost: a\r\n\(field)\r\n\r\n") }

  @Test("White space around a value is not part of the value")
  func whiteSpace() throws {
    let parsed = try #require(
      try parseRequest("GET / HTTP/1.1\r\nHost: a\r\nA:\t b c\t \r\nB:\r\nC: \t\r\nD:d\r\n\r\n"))
    #expect(parsed.names == ["Host", "A", "B", "C", "D"])
    #expect(parsed.index.dropFirst().map { parsed.text($0.value) } == ["b c", "", "", "d"])
  }

  @Test("A name may contain every token character")
  func tokenCharacters() {
    #expect(refused("!#$%&'*+-.^_`|~09azAZ: x") == nil)
  }

  @Test("A value may contain bytes above 0x7f")
  func opaqueBytes() throws {
    let bytes = Array("GET / HTTP/1.1\r\nHost: a\r\nX: ".utf8) + [0x80, 0xff, 0xe9] + Array("\r\n\r\n".utf8)
    let parsed = try #require(try parseRequest(bytes))
    #expect(parsed.index.last?.value.count == 3)
  }

  @Test(
    "A malformed field line is refused with 400 (attack class 4)",
    arguments: [
      " X: y", "\tX: y", "X : y", "X\t: y", ": y", " : y", "X", "X y", "X(: y", "X\u{0}: y", "X: \u{0}y", "X: a\u{1}",
      "X: \u{7f}",
      "X: a\u{b}b", "X: a\u{c}b", "X: a\rb", "X: a\r", "X: \rY: z", "X\r: y", "\rX: y", "\u{e9}: y", "X\u{7f}: y",
      "X: y\r\n folded",
      "X: y\r\n\tfolded", "\"X\": y", "X/: y", "X,Y: z", "[X]: y", "{X}: y", "X=: y", "X;: y", "X@: y",
    ])
  func malformed(_ field: String) {
    #expect(refused(field) == 400)
  }

  @Test("A bare line feed is refused on arrival (attack class 4)")
  func bareLineFeed() {
    #expect(refusal("GET / HTTP/1.1\n") == 400)
    #expect(refusal("\n") == 400)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\n") == 400)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\n\n") == 400)
  }

  @Test("A Connection option names fields in each spelling, and only those")
  func options() throws {
    let long = String(repeating: "a", count: 97)
    let lines = (0..<40).map { "\(long)-\($0): x\r\n" }.joined()
    let options = (0..<15).flatMap { ["\(long)-\($0 * 2)", "\(long.uppercased())_\($0 * 2)"] }.joined(separator: ", ")
    let index = HeadIndex()
    for _ in 0..<2 {
      let text = "GET / HTTP/1.1\r\nHost: a\r\n\(lines)Connection: \(options)\r\n\r\n"
      let parsed = try #require(try parseRequest(Array(text.utf8), into: index))
      #expect(parsed.nominated == (0..<15).map { "\(long)-\($0 * 2)" })
    }
  }

  @Test("A value does not begin on the next line")
  func missingColon() {
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding\r\n: chunked\r\n\r\n") == 400)
  }

  @Test("A hundred fields are accepted, and one more is refused with 431")
  func fieldLimit() {
    let fields = (1..<HeadIndex.fieldLimit).map { "X\($0): y\r\n" }.joined()
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n") == nil)
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\n\(fields)Y: z\r\n\r\n") == 431)
  }

  @Test("A head longer than offsets can express is refused")
  func enormousHead() {
    let field = "X: " + String(repeating: "y", count: 70_000)
    #expect(refused(field) == 431)
  }

  @Test(
    "A known name with underscores is recognised as disguised (attack class 11)",
    arguments: [
      "X_Forwarded_For", "x-forwarded_for", "X_ORIGINAL_URL", "Content_Type", "Host_", "Co_okie", "REMOTE_USER",
    ])
  func disguises(_ name: String) throws {
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(name): z\r\n\r\n"))
    let isKnown = !["Host_", "Co_okie", "REMOTE_USER"].contains(name)
    #expect(parsed.index.last?.known == (isKnown ? .disguised : .irregular))
  }

  @Test(
    "A known name with another token character for its hyphens is recognised as disguised (attack class 11)",
    arguments: [
      "X.Original.URL", "X!Rewrite!URL", "x#original-url", "X$Original$Host", "X%Forwarded%For", "X&Forwarded&Host",
      "X'Forwarded'Path", "X*Unencoded-URL", "X+Host", "Path^Info", "Script`Name", "X|Forwarded|Proto", "Content~Type",
      "X.HTTP.Method.Override", "X_Method_Override", "x.envoy.original.path",
    ])
  func disguisesInAnyCharacter(_ name: String) throws {
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(name): z\r\n\r\n"))
    #expect(parsed.index.last?.known == .disguised)
  }

  @Test("A known name with its own characters is not disguised", arguments: ["X-ORIGINAL-URL", "x-host", "Path-Info"])
  func undisguised(_ name: String) throws {
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(name): z\r\n\r\n"))
    #expect(parsed.index.last?.known == .requestOverride)
  }

  @Test(
    "A known name is recognised at every place and in any letter case, and no other name is",
    arguments: [
      "te", "via", "host", "origin", "upgrade", "location", "forwarded", "connection", "x-real-ip", "client-cert",
      "content-type", "content-length", "x-forwarded-for", "x-forwarded-host", "transfer-encoding",
      "content-security-policy", "strict-transport-security", "x-forwarded-tls-client-cert",
    ])
  func namesByWords(_ name: String) throws {
    func known(_ name: String, behind before: Int) throws -> KnownField? {
      let first = before > 0 ? String(repeating: "y", count: before) + ":\r\n" : ""
      let value = name.lowercased() == "content-length" ? "1" : "chunked"
      return try parseResponse("HTTP/1.1 200\r\n\(first)\(name): \(value)\r\n\r\n")?.index.last?.known
    }
    let expected = try #require(try known(name, behind: 20))
    #expect(expected != KnownField.none)
    for before in 0...20 {
      #expect(try known(name, behind: before) == expected)
      #expect(try known(name.uppercased(), behind: before) == expected)
      #expect(try known(name + "x", behind: before) == KnownField.none)
      #expect(try known("x" + name, behind: before) == KnownField.none)
    }
    for place in name.indices where name[place] != "-" {
      var other = name
      other.replaceSubrange(place...place, with: name[place] == "z" ? "q" : "z")
      #expect(try known(other, behind: 20) == KnownField.none, "\(other)")
    }
  }

  @Test("A parser never writes more fields than the index has records")
  func mostFields() {
    let fields = (1...HeadIndex.fieldLimit).map { "X\($0): y\r\n" }.joined()
    let head = Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8)
    #expect {
      try RequestHeadParser.parse(
        head.span, length: head.count, limits: HeadLimits(fields: 1_000), into: HeadIndex())
    } throws: {
      ($0 as? MessageError)?.status == 431
    }
  }

  @Test("Known names are recognised in any case", arguments: ["COOKIE", "cookie", "CoOkIe"])
  func knownNames(_ name: String) throws {
    let parsed = try #require(try parseRequest("GET / HTTP/1.1\r\nHost: a\r\n\(name): z\r\n\r\n"))
    #expect(parsed.values(.cookie) == ["z"])
  }

  @Test("The index finds the first, the last and the only field of a name")
  func lookUp() throws {
    let parsed = try #require(
      try parseRequest("GET / HTTP/1.1\r\nHost: a\r\nCookie: 1\r\nVia: v\r\nCookie: 2\r\n\r\n"))
    #expect(parsed.text(parsed.index.firstValue(of: .cookie)) == "1")
    #expect(parsed.text(parsed.index.lastValue(of: .cookie)) == "2")
    #expect(parsed.index.onlyValue(of: .cookie) == nil)
    #expect(parsed.text(parsed.index.onlyValue(of: .via)) == "v")
    #expect(parsed.index.onlyValue(of: .te) == nil)
  }
}

struct ConnectionOptionTests {
  private func head(_ fields: String, version: String = "1.1") throws -> Parsed<RequestHead> {
    try #require(try parseRequest("GET / HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n\r\n"))
  }

  @Test("The version and the options decide whether a connection is kept")
  func persistence() throws {
    #expect(try head("X: y").head.keepsAlive)
    #expect(try !head("Connection: close").head.keepsAlive)
    #expect(try !head("Connection: keep-alive, CLOSE").head.keepsAlive)
    #expect(try !head("Connection: keep-alive\r\nConnection: close").head.keepsAlive)
    #expect(try !head("X: y", version: "1.0").head.keepsAlive)
    #expect(try head("Connection: Keep-Alive", version: "1.0").head.keepsAlive)
    #expect(try !head("Connection: keep-alive, close", version: "1.0").head.keepsAlive)
  }

  @Test("Fields that a Connection option names are marked, in either spelling")
  func nomination() throws {
    let parsed = try head("Connection: x-a ,, X_b\r\nX-A: 1\r\nX-B: 2\r\nx_a: 3\r\nX-C: 4")
    #expect(parsed.nominated == ["X-A", "X-B", "x_a"])
  }

  @Test(
    "An option that names a protected field is refused (attack class 6)",
    arguments: [
      "Host", "content-length", "Transfer-Encoding", "Transfer_Encoding", "Cookie", "Authorization", "X-Forwarded-For",
      "x_forwarded_for",
      "Content-Type", "Via", "Forwarded", "Connection", "Expect", "Origin", "X-Real-IP", "Set-Cookie", "Location",
    ])
  func protectedFields(_ option: String) {
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nConnection: close, \(option)\r\n\r\n") == 400)
  }

  @Test("A Connection option must be a token", arguments: ["a b", "a;b", "\"a\"", "a=b", "close;x", "(", "a\u{e9}"])
  func malformedOptions(_ option: String) {
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nConnection: \(option)\r\n\r\n") == 400)
  }

  @Test("More than 32 options are refused, in one field or in many")
  func optionLimit() {
    let many = (0..<33).map { "x\($0)" }
    #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nConnection: \(many.joined(separator: ","))\r\n\r\n") == 400)
    #expect(
      refusal("GET / HTTP/1.1\r\nHost: a\r\n\(many.map { "Connection: \($0)\r\n" }.joined())\r\n") == 400)
    #expect(
      refusal("GET / HTTP/1.1\r\nHost: a\r\nConnection: \(many.dropFirst().joined(separator: ","))\r\n\r\n") == nil)
  }

  @Test("An upgrade needs the Connection option, one Upgrade field and HTTP/1.1")
  func upgrade() throws {
    let asked = try head("Connection: Upgrade\r\nUpgrade: websocket")
    #expect(asked.text(asked.head.upgrade) == "websocket")
    #expect(try head("Upgrade: websocket").head.upgrade == nil)
    #expect(try head("Connection: upgrade").head.upgrade == nil)
    #expect(try head("Connection: upgrade\r\nUpgrade: a\r\nUpgrade: b").head.upgrade == nil)
    #expect(try head("Connection: upgrade\r\nUpgrade: websocket", version: "1.0").head.upgrade == nil)
  }
}

struct ExpectationTests {
  @Test("100-continue counts only if a body waits for it")
  func expectation() throws {
    func expects(_ line: String, _ fields: String) throws -> Bool? {
      try parseRequest("\(line)\r\nHost: a\r\nExpect: 100-Continue\r\n\(fields)\r\n")?.head.expectsContinue
    }
    #expect(try expects("POST / HTTP/1.1", "Content-Length: 1\r\n") == true)
    #expect(try expects("POST / HTTP/1.1", "Transfer-Encoding: chunked\r\n") == true)
    #expect(try expects("POST / HTTP/1.1", "") == false)
    #expect(try expects("POST / HTTP/1.0", "Content-Length: 1\r\n") == false)
  }

  @Test(
    "Any other expectation is refused with 417 (attack class 8)",
    arguments: ["Expect: 200-ok", "Expect:", "Expect: 100-continue, x", "Expect: 100-continue\r\nExpect: 100-continue"])
  func others(_ field: String) {
    #expect(refusal("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\(field)\r\n\r\n") == 417)
  }
}
