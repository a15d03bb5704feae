import Testing

@testable import PathReading

@Suite("Pre-filter for queries that may route")
struct RouterQueryTests {
  private let router = FrontControllerQuery()

  private func mayRoute(_ query: String) -> Bool { mayRoute(Array(query.utf8)) }
  private func mayRoute(_ query: [UInt8]) -> Bool { router.quickCheck(query.span).mayContainRoute }

  /// Names of one to eight bytes and longer, each at every offset in the query.
  @Test(
    "A routing name is found at every position, in either letter case",
    arguments: [
      "q", "rt", "url", "path", "route", "option", "service", "pathinfo", "path_info", "rest_route", "routestring",
    ])
  func routing(name: String) {
    for length in 0...9 {
      let filler = String(repeating: "x", count: length)
      for spelling in [name, name.uppercased()] {
        #expect(mayRoute("\(filler)=1&\(spelling)=oauth/token"))
        #expect(mayRoute("\(spelling)=&\(filler)=1"))
        #expect(!mayRoute("\(spelling)\(filler)x=oauth/token&scope\(filler)=\(spelling)"))
      }
    }
  }

  @Test("A name with any other character may be a routing name, wherever the character is")
  func other() {
    let name = Array("code_challenge-1".utf8)
    #expect(!mayRoute(String(decoding: name, as: UTF8.self) + "=1"))
    for byte in UInt8.min...UInt8.max {
      let isPlain =
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
      // These bytes end a name or are ordinary characters of a name.
      if isPlain || "-_=&".utf8.contains(byte) { continue }
      for place in name.indices {
        var query = name
        query[place] = byte
        #expect(mayRoute(query + Array("=1".utf8)), "\(byte) at \(place)")
      }
    }
  }

  /// The filter reads the last bytes of a query, fewer than eight, one by one.
  @Test(
    "A name with such a character at the end of a query may be a routing name",
    arguments: [".", "%", "+", "~", "[", "/", "@", "{", "`", "\u{e9}", "\u{0}", "\u{7f}"])
  func otherAtTheEnd(character: String) {
    for length in 0...6 {
      let name = String(repeating: "x", count: length)
      for place in 0...length {
        let query = name.prefix(place) + character + name.dropFirst(place) + "="
        #expect(mayRoute(String(query)), "\(query)")
      }
    }
  }

  @Test("A name without a value may be a route; empty pairs are ignored")
  func alone() {
    for query in ["id", "id=1&n", "n&id=1", "oauth_token_abc", "id=1&oauth_token_abc", "id=1&&n"] {
      #expect(mayRoute(query))
    }
    for query in ["", "&", "&&id=1&&", "id=1", "id=1&", "=1", "id=1&=1"] { #expect(!mayRoute(query)) }
  }
}
