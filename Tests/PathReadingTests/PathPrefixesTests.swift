import Testing

@testable import PathReading

@Suite("The prefix under which a path lies")
struct PathPrefixesTests {
  private static let prefixes = PathPrefixes(["/files", "/files/large/", "/~user/v1.2", "/x"])

  private static func match(_ path: String) -> PathPrefixes.Match { prefixes.match(path.utf8.span) }

  @Test("The longest prefix of whole segments is found, in any letter case")
  func longest() {
    for (path, match) in [
      ("/files", PathPrefixes.Match.prefix(0)), ("/files/", .prefix(0)), ("/files/a/b", .prefix(0)),
      ("/FILES/a", .prefix(0)), ("/files/large", .prefix(1)), ("/files/large/", .prefix(1)),
      ("/files/Large/a", .prefix(1)), ("/files/larger", .prefix(0)), ("/~user/v1.2/a", .prefix(2)), ("/x", .prefix(3)),
      ("/filesystem", .none), ("/", .none), ("", .none), ("*", .none), ("/a/files", .none), ("/y/x", .none),
    ] {
      #expect(Self.match(path) == match, "\(path)")
    }
  }

  @Test("Another spelling of a path lies under the same prefix")
  func spellings() {
    for path in [
      "/files/a%20b", "/files/a%2Fb", "/files/a+b", "/files/a;v=1", "/files/a(1)", "/files/100%25.txt", "/files//a",
      "/files/./a", "/files/a.", "/files/%C3%A9", "/files/\u{e9}", "/./files/a/", "/files;jsessionid=1",
      "/files;v/larger;a=b",
    ] {
      #expect(Self.match(path) == .prefix(0), "\(path)")
    }
    #expect(Self.match("/files/large;v=1/a") == .prefix(1))
    for path in ["/other/a%20b", "/other/a+b", "/other//a", "/other/."] {
      #expect(Self.match(path) == .none, "\(path)")
    }
  }

  @Test("A path that some server reads under another prefix is ambiguous")
  func ambiguous() {
    for path in [
      "/%66iles/a", "/%2566iles/a", "/files%2Fa", "//files/a", "/files/../x", "/files/large%2Fa", "/files/%6carge/a",
      "/x;/../files", "/files%3Bv=1", "/files\\a", "/files/a/..%2f..%2fx", "/a/../files",
      "/files./a", "/files%00/a", String(repeating: "/", count: 70),
    ] {
      #expect(Self.match(path) == .ambiguous, "\(path)")
    }
  }

  private static func segments(of text: [UInt8]) -> [[UInt8]] {
    let path = CanonicalPath(text: text)
    return path.segments.map { Array(path.bytes(of: $0)) }
  }

  @Test("A plain path has one reading, and the quick comparison finds the same prefix as the complete one")
  func plain() {
    let alphabet = Array("/.~aflxFX1-%;+(\\".utf8)
    var random = SystemRandomNumberGenerator()
    let heads = ["/", "/files", "/files/large", "/x/", "/~user/v1.2", ""]
    for _ in 0..<5_000 {
      let tail = (0..<Int.random(in: 0...8, using: &random)).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] }
      let path = Array((heads.randomElement() ?? "").utf8) + tail
      guard PathPrefixes.isPlain(path.span) else { continue }
      var budget = PathVariants.Budget()
      let readings = Set(PathVariants.texts(of: path, within: &budget)?.map { Self.segments(of: $0) } ?? [])
      #expect(readings == [Self.segments(of: path)], "\(String(decoding: path, as: UTF8.self))")
      let segments = CanonicalPath(text: path)
      let expected = [(1, "/files/large"), (2, "/~user/v1.2"), (0, "/files"), (3, "/x")]
        .first { segments.lies(under: CanonicalPath(text: Array($0.1.utf8))) }
        .map { PathPrefixes.Match.prefix($0.0) }
      // A path that does not begin with a slash is no path of a request.
      guard path.first == UInt8(ascii: "/") else { continue }
      #expect(Self.prefixes.match(path.span) == expected ?? .none, "\(String(decoding: path, as: UTF8.self))")
    }
  }
}
