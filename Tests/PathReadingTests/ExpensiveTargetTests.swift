import Policy
import Testing

@testable import PathReading

/// Targets that were expensive to read. `Tests/Attack/cost` counts their instructions.
@Suite("Expensive targets")
struct ExpensiveTargetTests {
  private static let matcher = EndpointMatcher(
    endpoints: EndpointPaths(authorization: ["/oauth/authorize"], token: ["/oauth/token"]))

  private static let texts = [
    "|wellknown", "|.well-known", "|a", "|", "//", "/./", "..", ";a", "(S(a))", "%2f", "%25", "%u0061", "\u{ff41}",
    "?:", ":",
    "&q=", "%00", "+", " .", "~1", ".php/",
  ]

  @Test("A target that repeats a special text is ambiguous or read within the budget", arguments: texts)
  func repeated(text: String) {
    let programs = "/~//N//N//N|0.php|1.php|2.php|3.php"
    // Each front makes the matcher read the path in every way.
    for front in ["/~", programs, "/oauth/token", "/~/index.php/"] {
      for count in [1, 60, 70, 400] {
        let path = Array((front + String(repeating: text, count: count)).utf8.prefix(4_000))
        var budget = PathVariants.Budget()
        let texts = PathVariants.texts(of: path, within: &budget)
        // All texts that are kept fit into the budget, and none has more slashes than the limit.
        #expect(texts?.count ?? 0 <= 64)
        #expect(texts?.reduce(0) { $0 + $1.count } ?? 0 <= 64 * 1_024)
        #expect(texts?.allSatisfy { $0.count(where: PathVariants.isSlash) <= PathVariants.maximumSlashes } ?? true)
        let isTooComplex = EndpointMatcher.isTooComplex(path.span)
        let match = Self.matcher.read(path: String(decoding: path, as: UTF8.self))
        #expect(match == .ambiguous || texts != nil && !isTooComplex, "\(text) \(count)")
      }
    }
  }

  @Test("A query with more routes than the limit is ambiguous, wherever their names are")
  func routes() {
    for pair in ["a:b:c", "q=/x&", "q=%2fx&", ":/", "?/", "a;/b;", "%71=/x&"] {
      let query = String(repeating: pair, count: 2_000)
      #expect(Self.matcher.read(path: "/index.php", query: query) == .ambiguous, "\(pair)")
    }
    // Pairs without a route, however many.
    for pair in ["a=b&", "a[]=1&", "next=/x&", "a.b=1&", "a%5B%5D=1&"] {
      #expect(Self.matcher.read(path: "/x", query: String(repeating: pair, count: 800)) == .notEndpoint, "\(pair)")
    }
  }

  @Test("The slashes that a step makes count like those of the path")
  func slashes() {
    for slash in ["/", "|", "%2f", "%5c", "\\", "\u{2044}", "%252f", "%7c"] {
      let few = "/~" + String(repeating: slash + "a", count: 20)
      let many = "/~" + String(repeating: slash + "a", count: 70)
      #expect(Self.matcher.read(path: few) == .notEndpoint, "\(slash)")
      #expect(Self.matcher.read(path: many) == .ambiguous, "\(slash)")
    }
  }
}
