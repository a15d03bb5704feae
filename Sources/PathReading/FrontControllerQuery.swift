internal import ByteText

/// Finds endpoint paths in a query. Some programs read from the query which page to serve, for example from
/// `/?rest_route=/oauth/token`. A text that a program reads in this way is called a route.
struct FrontControllerQuery {
  /// The parameters from which a program may read a route on any path, because a server may rewrite every path to that
  /// program.
  private static let namesOnAnyPath: Set<String> = [
    "q", "r", "s", "rt", "route", "_route", "_route_", "__route__", "rest_route", "oauth", "oauth2", "_url",
    "kohana_uri", "pathinfo", "path_info", "pagename", "routestring",
  ]
  /// The parameters from which only the front controller of a site reads a route. The front controller is the program
  /// that serves all pages of the site. On other paths, these parameters usually contain return addresses or page
  /// numbers.
  private static let namesAtFrontControllers: Set<String> = [
    "path", "url", "uri", "page", "p", "action", "a", "act", "do", "op", "cmd", "mod", "task", "view", "option", "go",
    "load", "method", "endpoint", "service", "handler", "query", "api", "module", "m", "controller", "c", "ctrl", "ctl",
    "app", "class", "d",
  ]
  /// The parameters of front controllers that contain only a part of a route, such as a controller or an action.
  /// Frameworks disagree about which parameter contains which part.
  private static let partNames: Set<String> = [
    "module", "mod", "m", "controller", "c", "ctrl", "ctl", "class", "app", "d", "action", "act", "a", "do", "op",
    "task",
    "method",
  ]
  /// The maximum number of routes in a query. No legitimate request has more. The limit is low because each route is
  /// read in all ways in which a path is read.
  private static let maximumRoutes = 16

  /// The names of both kinds of parameters. The index is their length in bytes.
  private let namesByLength: [[[UInt8]]] = {
    let all = namesOnAnyPath.union(namesAtFrontControllers).map { Array($0.utf8) }
    let longest = all.map(\.count).max() ?? 0
    return (0...longest).map { length in all.filter { $0.count == length } }
  }()

  /// The result of `quickCheck(_:)`.
  struct QuickCheck {
    /// True if the query may contain a route. It then contains a semicolon or one of these parameters: one without an
    /// equals sign, one whose name must be decoded, or one whose name is in `namesOnAnyPath` or
    /// `namesAtFrontControllers`.
    var mayContainRoute = false
    /// The OAuth parameters in the query. Incomplete if `mayContainRoute` is true, because the check then stops early.
    var oauthNames: OAuthNames = []
  }

  /// Examines the names of the parameters in one pass.
  func quickCheck(_ query: Span<UInt8>) -> QuickCheck {
    var check = QuickCheck()
    // Some servers separate parameters at semicolons. Queries with semicolons are rare and are left to the full check.
    if query.contains(UInt8(ascii: ";")) {
      check.mayContainRoute = true
      return check
    }
    var start = 0
    while start < query.count {
      let end = FrontControllerQuery.endOfName(in: query, from: start)
      guard end < query.count, query[end] == UInt8(ascii: "=") else {
        // A name without an equals sign may itself be a route, and a name with characters that are not plain may be
        // decoded to any name. Only an empty pair is harmless.
        guard end == start, query[end] == UInt8(ascii: "&") else {
          check.mayContainRoute = true
          return check
        }
        start = end + 1
        continue
      }
      let name = query.extracting(start..<end)
      if isRouteName(name) {
        check.mayContainRoute = true
        return check
      }
      check.oauthNames.formUnion(OAuthNames(decodedName: name))
      start = (query.firstIndex(of: UInt8(ascii: "&"), from: end) ?? query.count) + 1
    }
    return check
  }

  /// Returns the offset of the first byte at or after `start` that is not part of a plain name; the length of the query
  /// if there is none.
  private static func endOfName(in query: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index <= query.count - 8 {
      let word = query.word(at: index)
      // The same test as `isPlain`, for eight bytes at once.
      let others = word.positionsOutsideFieldName & ~word.positions(of: UInt8(ascii: "_"))
      if others != 0 { return index + others.trailingZeroBitCount >> 3 }
      index += 8
    }
    while index < query.count, isPlain(query[index]) { index += 1 }
    return index
  }

  /// True for letters, digits, hyphens and underscores. A period is not plain, because some programs read it as an
  /// underscore.
  private static func isPlain(_ byte: UInt8) -> Bool {
    byte != UInt8(ascii: ".") && CanonicalPath.isPlain(byte.lowercasedASCII)
  }

  private func isRouteName(_ name: Span<UInt8>) -> Bool {
    let namesByLength = namesByLength.span
    guard name.count < namesByLength.count else { return false }
    let candidates = namesByLength[name.count].span
    for index in candidates.indices where candidates[index].span.isEqualIgnoringCase(to: name) { return true }
    return false
  }

  /// True if a program that serves `path` may read one of the endpoint paths from the query, or if the query contains
  /// too many routes to find out.
  ///
  /// - Parameter spellings: The spellings of `path`.
  func canRoute(
    _ query: [UInt8], at path: [UInt8], _ spellings: Set<CanonicalPath>, to endpoints: [CanonicalPath],
    within budget: inout PathVariants.Budget
  ) -> Bool {
    let runsProgram = path.last == UInt8(ascii: "/") || spellings.contains(where: \.runsProgram)
    let isFrontController = spellings.contains(where: \.isFrontController)
    let prefixLengths = endpoints.map { $0.prefixLengths(sharedWith: spellings) }
    return FrontControllerQuery.separations(of: query).contains { pairs in
      guard var routes = FrontControllerQuery.routes(in: pairs, runsProgram, isFrontController) else { return true }
      // Some programs read the whole query as a path, including `&`.
      if pairs.count > 1, query.first == UInt8(ascii: "/") || query.first == UInt8(ascii: "%") {
        routes.append(Route(query))
      }
      return containsEndpoint(endpoints, prefixLengths, in: routes, within: &budget)
    }
  }

  /// Returns the pairs of the query, once for each way in which servers separate them: PHP separates only at `&`, other
  /// programs also at `;`.
  private static func separations(of query: [UInt8]) -> [[ArraySlice<UInt8>]] {
    let pairs = query.split(separator: UInt8(ascii: "&"))
    guard query.contains(UInt8(ascii: ";")) else { return [pairs] }
    return [pairs, pairs.flatMap { $0.split(separator: UInt8(ascii: ";")) }]
  }

  /// Returns the routes that a program may read from the pairs of the query; `nil` if there are too many. `runsProgram`
  /// and `isFrontController` describe the request path.
  private static func routes(
    in pairs: [ArraySlice<UInt8>], _ runsProgram: Bool, _ isFrontController: Bool
  ) -> [Route]? {
    var routes: [Route] = []
    var parts: [[UInt8]] = []
    for pair in pairs {
      let (names, value) = namesAndValue(of: pair)
      routes += self.routes(in: pair, names, value, runsProgram, isFrontController)
      if isFrontController, names.contains(where: partNames.contains) { parts.append(value) }
    }
    guard routes.count <= maximumRoutes, parts.count <= maximumParts else { return nil }
    return routes + arrangements(of: parts).map { Route(Array($0.joined(separator: [UInt8(ascii: "/")]))) }
  }

  /// True if a program may read a route as an endpoint path without the first `count` segments of this endpoint path.
  /// Here, `count` is one of the `prefixLengths` of the endpoint or, if the route has `mayBeAnySuffix`, any number that
  /// leaves a segment. Also true if a route has too many readings to find out.
  ///
  /// - Parameter prefixLengths: For each endpoint, the result of `CanonicalPath.prefixLengths(sharedWith:)` for the
  ///   spellings of the request path.
  private func containsEndpoint(
    _ endpoints: [CanonicalPath], _ prefixLengths: [[Int]], in routes: [Route], within budget: inout PathVariants.Budget
  ) -> Bool {
    routes.contains { route in
      if EndpointMatcher.isTooComplex(route.text.span) { return true }
      guard let texts = PathVariants.texts(of: route.text, within: &budget),
        let readings = CanonicalPath.readings(of: Set(texts.map(CanonicalPath.init(text:))))
      else { return true }
      return readings.contains { reading in
        zip(endpoints, prefixLengths).contains { endpoint, prefixLengths in
          (route.mayBeAnySuffix ? Array(endpoint.segments.indices) : prefixLengths).contains {
            reading.mayBeServed(by: CanonicalPath(segments: Array(endpoint.segments[$0...])))
          }
        }
      }
    }
  }

  /// A text of the query that a program may read as a path.
  private struct Route {
    let text: [UInt8]
    /// True if the route may be the last segments of an endpoint path, however many, because the program that reads the
    /// route may be installed under any path.
    let mayBeAnySuffix: Bool

    init(_ text: [UInt8], mayBeAnySuffix: Bool = false) {
      self.text = text
      self.mayBeAnySuffix = mayBeAnySuffix
    }
  }

  /// Returns the names that a pair may have, and its value. The names are the whole text in front of `=` and each part
  /// between colons, because some frameworks put a prefix in front of a name (`action:` in Struts).
  private static func namesAndValue(of pair: ArraySlice<UInt8>) -> (names: [String], value: [UInt8]) {
    let value = pair.drop { $0 != UInt8(ascii: "=") }.dropFirst().map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
    let name = lenientName(pair.prefix { $0 != UInt8(ascii: "=") })
    guard name.utf8.contains(UInt8(ascii: ":")) else { return ([name], value) }
    return ([name] + name.split(separator: ":").map(String.init), value)
  }

  /// Returns the routes that programs may read from one pair of the query.
  private static func routes(
    in pair: ArraySlice<UInt8>, _ names: [String], _ value: [UInt8], _ runsProgram: Bool, _ isFrontController: Bool
  ) -> [Route] {
    let wholeName = names[0].utf8
    // In Struts, the name `action:authorize` contains the route `authorize`. But a colon may also be a part of a path,
    // so the pair is also read in the ways below.
    var routes = wholeName.indices.filter { wholeName[$0] == UInt8(ascii: ":") }.map {
      Route(Array(wholeName[$0...].dropFirst()))
    }
    if !pair.contains(UInt8(ascii: "=")) || wholeName.contains(UInt8(ascii: "/")) {
      // For example, `/index.php?/oauth/token`.
      if runsProgram || mayHaveSlash(Array(pair)) { routes.append(Route(Array(pair))) }
    }
    for name in names { routes += self.routes(named: name, value, runsProgram, isFrontController) }
    return routes
  }

  /// Returns the routes that programs may read from a parameter with this name and value.
  private static func routes(
    named name: String, _ value: [UInt8], _ runsProgram: Bool, _ isFrontController: Bool
  ) -> [Route] {
    if namesOnAnyPath.contains(name) {
      // A value of one word may be a search term, so it counts as a route only if the path runs a program.
      let valueRoutes = runsProgram || mayHaveSlash(value) ? [Route(value, mayBeAnySuffix: name == "rest_route")] : []
      // The name may be the first segment of the route: `oauth=token` may mean `/oauth/token`.
      return valueRoutes + [Route(Array(name.utf8) + [UInt8(ascii: "/")] + value)]
    }
    guard namesAtFrontControllers.contains(name) else { return [] }
    // The front controller may read the parameter on every path, because a rewriting rule may send a request for any
    // path to it, with the query of the client. But on a path that is not a front controller, a value that begins with
    // a slash is usually a return address. So there, a value counts only if it has a slash, and begins neither with a
    // slash nor with an escape, which may be that of a slash.
    let isRelative = mayHaveSlash(value) && value.first != UInt8(ascii: "/") && value.first != UInt8(ascii: "%")
    return isFrontController || isRelative ? [Route(value)] : []
  }

  /// The maximum number of parts of a route in one query.
  private static let maximumParts = 6

  /// Returns every ordered selection of two or three of the parts.
  private static func arrangements(of parts: [[UInt8]]) -> [[[UInt8]]] {
    let pairs = parts.indices.flatMap { first in
      parts.indices.filter { $0 != first }.map { [first, $0] }
    }
    let triples = pairs.flatMap { pair in
      parts.indices.filter { !pair.contains($0) }.map { pair + [$0] }
    }
    return (pairs + triples).map { $0.map { parts[$0] } }
  }

  /// Returns a parameter name as the most lenient program reads it. PHP replaces a period, a space and an opening
  /// bracket with an underscore.
  static func lenientName(_ bytes: ArraySlice<UInt8>) -> String {
    let decoded = LenientDecoding.decoded(bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 })
    let trimmed = decoded.drop { $0 <= 0x20 }.prefix { $0 >= 0x20 }
    return String(
      decoding: trimmed.map { byte -> UInt8 in
        byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "[") ? UInt8(ascii: "_") : byte
      }, as: UTF8.self)
  }

  /// True if the value contains a slash or a backslash, or a character that may be decoded to one.
  private static func mayHaveSlash(_ value: [UInt8]) -> Bool {
    value.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "%") || $0 >= 0x80 }
  }
}
