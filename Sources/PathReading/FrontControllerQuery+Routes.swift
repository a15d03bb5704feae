internal import ByteText

/// The routes of a query, each of which is compared with the endpoint paths as soon as it is found, so that no list of
/// them grows with the query.
extension FrontControllerQuery {
  /// The facts about a path that decide which routes a program may read from the query.
  struct Place {
    /// True if some server runs a program for the path.
    var runsProgram: Bool
    /// True if some server runs the front controller of the site for the path.
    var isFrontController: Bool
    /// True if the path ends with a slash, so that a server may run the index of a folder, which may be a front controller.
    var isFolder: Bool
    /// True if a rewriting rule may insert the rest of the path into a parameter with any name, in front of the query of the
    /// client (`RewriteRule ^oauth/(\w+)$ oauth.php?do=$1 [QSA]` of Apache).
    var mayBeRewritten: Bool
    /// For each endpoint, the lengths, in segments, of the proper prefixes of the endpoint path with which the path
    /// begins. A program at such a prefix may read the rest of the endpoint path from the query.
    var prefixLengths: [[Int]]

    /// True if some server may run the front controller of a site, or that of a folder, for the path.
    var mayBeFrontController: Bool { isFrontController || isFolder }
  }

  /// True if a program at `place` may read one of the endpoint paths from the query, or if the query contains too many
  /// routes to find out.
  func canRoute(
    _ query: [UInt8], at place: Place, to endpoints: [EndpointPath], within budget: inout PathVariants.Budget
  ) -> Bool {
    // PHP separates pairs only at `&`, other programs also at `;`.
    let mayBeSeparatedAtSemicolons = query.span.contains(UInt8(ascii: ";"))
    for separatesAtSemicolons in mayBeSeparatedAtSemicolons ? [false, true] : [false] {
      var search = RouteSearch(self, place, endpoints, budget)
      defer { budget = search.budget }
      if search.finds(query, separatesAtSemicolons) { return true }
    }
    return false
  }

  /// Returns a parameter name as the most lenient program reads it, in lower case. PHP replaces a period, a space and an
  /// opening bracket with an underscore.
  static func lenientName(
    _ bytes: ArraySlice<UInt8>, rounds: Int = LenientDecoding.maximumRounds
  ) -> [UInt8] {
    let isASCII = bytes.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "%") }
    let spaced = bytes.map { $0 == UInt8(ascii: "+") ? 0x20 : $0.lowercasedASCII }
    // Nothing else is decoded.
    let decoded = isASCII ? spaced : LenientDecoding.decoded(spaced, rounds: rounds)
    return decoded.drop { $0 <= 0x20 }.prefix { $0 >= 0x20 }.map { byte -> UInt8 in
      byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "[") ? UInt8(ascii: "_") : byte
    }
  }
}

/// The search for endpoint paths in one query that is separated in one way.
private struct RouteSearch {
  private let names: FrontControllerQuery
  private let place: FrontControllerQuery.Place
  private let endpoints: [EndpointPath]
  private(set) var budget: PathVariants.Budget
  /// The number of routes so far.
  private var routes = 0
  /// The values that may be parts of a route.
  private var parts: [ArraySlice<UInt8>] = []

  /// The maximum number of parts of a route in one query.
  private static let maximumParts = 6
  private static let restRoute = Array("rest_route".utf8)
  private static let responseType = Array("response_type".utf8)
  /// The maximum length in bytes of a value that is compared whatever its name: more than that of any endpoint path.
  private static let maximumRestLength = 128

  init(
    _ names: FrontControllerQuery, _ place: FrontControllerQuery.Place, _ endpoints: [EndpointPath],
    _ budget: PathVariants.Budget
  ) {
    self.names = names
    self.place = place
    self.endpoints = endpoints
    self.budget = budget
  }

  /// True if a program may read an endpoint path from the query, or if the query contains too many routes.
  mutating func finds(_ query: [UInt8], _ separatesAtSemicolons: Bool) -> Bool {
    var pairs = 0
    var start = 0
    while start < query.count {
      let isEnd = { (byte: UInt8) in byte == UInt8(ascii: "&") || separatesAtSemicolons && byte == UInt8(ascii: ";") }
      let end = query[start...].firstIndex(where: isEnd) ?? query.count
      if end > start {
        pairs += 1
        if leads(pair: query[start..<end]) { return true }
      }
      start = end + 1
    }
    // Some programs read the whole query as a path, including `&`.
    if pairs > 1, query.first == UInt8(ascii: "/") || query.first == UInt8(ascii: "%"), leads(route: query[...]) {
      return true
    }
    return arrangementLeads()
  }

  /// True if a program may read an endpoint path from a pair, or if the query has too many routes.
  private mutating func leads(pair: ArraySlice<UInt8>) -> Bool {
    let equals = pair.firstIndex(of: UInt8(ascii: "="))
    let rawName = pair[..<(equals ?? pair.endIndex)]
    if place.mayBeRewritten, let equals, completes(rawName, pair[(equals + 1)...]) { return true }
    // Most names are plain, and no name of a route. Nothing is decoded in the others, and they have no part that is a name.
    if rawName.allSatisfy(FrontControllerQuery.isPlain), equals != nil || !place.runsProgram {
      guard let name = names.routeName(rawName.span) else { return false }
      let value = pair[(equals.map { $0 + 1 } ?? pair.endIndex)...]
      // Elsewhere than at a front controller, a value without a slash is a route for these names only.
      let mayBeRoute = place.mayBeFrontController || RouteSearch.mayHaveSlash(value)
      guard mayBeRoute || name.isOnAnyPath else { return false }
      return leads(named: name, RouteSearch.spaced(value))
    }
    if rawName.contains(where: { $0 == UInt8(ascii: "%") || $0 >= 0x80 }) {
      budget.spend(onName: rawName)
      if budget.isSpent { return true }
    }
    let name = FrontControllerQuery.lenientName(rawName)
    let value = RouteSearch.spaced(pair[(equals.map { $0 + 1 } ?? pair.endIndex)...])
    // Some frameworks put a prefix in front of a name (`action:` in Struts), so each part between colons may be the name.
    let colons = name.span.contains(UInt8(ascii: ":")) ? name.indices.filter { name[$0] == UInt8(ascii: ":") } : []
    // In Struts, the name `action:authorize` contains the route `authorize`. But a colon may also be a part of a path,
    // so the pair is also read in the ways below.
    guard routes + colons.count <= FrontControllerQuery.maximumRoutes else { return true }
    for colon in colons where counted(leads: name[(colon + 1)...]) { return true }
    // For example, `/index.php?/oauth/token`.
    let mayBeRoute = equals == nil || name.span.contains(UInt8(ascii: "/"))
    if mayBeRoute, place.runsProgram || RouteSearch.mayHaveSlash(pair), counted(leads: pair) { return true }
    if let name = names.routeName(name.span), leads(named: name, value) { return true }
    for part in colons.isEmpty ? [] : name.split(separator: UInt8(ascii: ":")) {
      if let name = names.routeName(part.span), leads(named: name, value) { return true }
    }
    return false
  }

  /// True if a program may read an endpoint path from a parameter with this name and value, or if the query has too many
  /// parts of routes. Records the value if it may be a part.
  private mutating func leads(named name: FrontControllerQuery.RouteName, _ value: ArraySlice<UInt8>) -> Bool {
    if leads(name, value) { return true }
    if place.mayBeFrontController, name.isPart { parts.append(value) }
    return parts.count > RouteSearch.maximumParts
  }

  /// True if a program may read an endpoint path from a parameter with this name and value.
  private mutating func leads(_ name: FrontControllerQuery.RouteName, _ value: ArraySlice<UInt8>) -> Bool {
    if name.isOnAnyPath {
      // A value of one word may be a search term, so it counts as a route only if the path runs a program.
      let isRoute = place.runsProgram || RouteSearch.mayHaveSlash(value)
      if isRoute, counted(leads: value, mayBeAnySuffix: name.text == RouteSearch.restRoute) { return true }
      // The name may be the first segment of the route: `oauth=token` may mean `/oauth/token`.
      return counted(leads: name.text + [UInt8(ascii: "/")] + value)
    }
    // The front controller may read the parameter on every path, because a rewriting rule may send a request for any
    // path to it, with the query of the client. But on a path that is not a front controller, a value that begins with
    // a slash is usually a return address. So there, a value counts only if it has a slash, and begins neither with a
    // slash nor with an escape, which may be that of a slash.
    let isRelative =
      RouteSearch.mayHaveSlash(value) && value.first != UInt8(ascii: "/") && value.first != UInt8(ascii: "%")
    let mayBeRoute =
      place.isFrontController || isRelative || place.isFolder && !RouteSearch.mayBeReturnAddress(value)
    guard mayBeRoute else { return false }
    if counted(leads: value) { return true }
    guard place.mayBeFrontController, !RouteSearch.mayHaveSlash(value) else { return false }
    // Some frameworks separate the parts of a route by a period or a colon.
    let isSeparator = { (byte: UInt8) in byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":") }
    guard value.contains(where: isSeparator) else { return false }
    return counted(leads: value.map { isSeparator($0) ? UInt8(ascii: "/") : $0 }[...])
  }

  /// True if the value is the rest of an endpoint path with whose first segments the path begins. A value with a slash at
  /// its beginning is an address, and not a rest.
  private mutating func completes(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Bool {
    guard value.count <= RouteSearch.maximumRestLength else { return false }
    let found = LetterPrefilter.set(of: value.span)
    let mayComplete = found & LetterPrefilter.disguiseBit != 0
    let candidates = endpoints.indices.filter { index in
      mayComplete
        || endpoints[index].lastLetters.isPart(of: found) && endpoints[index].lastLetters.isInOrder(in: value.span)
    }
    // The parameter `response_type` has the same value for the token endpoint of many servers and for an implicit grant.
    guard !candidates.isEmpty, !RouteSearch.responseType.span.isEqualIgnoringCase(to: name.span) else { return false }
    budget.spend(on: value)
    if budget.isSpent { return true }
    let text = LenientDecoding.decoded(Array(RouteSearch.spaced(value)))
    guard text.first != UInt8(ascii: "/"), text.first != UInt8(ascii: "\\") else { return false }
    let path = CanonicalPath(text: text)
    let reading = PathReading(path, keeping: 0, from: 0)
    return candidates.contains { index in
      place.prefixLengths[index].contains { count in
        count > 0 && reading.count == endpoints[index].names.count - count
          && reading.mayBeServed(by: endpoints[index], from: count)
      }
    }
  }

  /// True if the value begins with a slash and has a query, like the address to which a login page returns.
  private static func mayBeReturnAddress(_ value: ArraySlice<UInt8>) -> Bool {
    guard value.first == UInt8(ascii: "/") || value.first == UInt8(ascii: "%") else { return false }
    return value.contains(UInt8(ascii: "?")) || value.span.contains("%3f") || value.span.contains("%3F")
  }

  /// True if the route, which counts for `maximumRoutes`, leads to an endpoint, or if there are too many routes.
  private mutating func counted(leads route: ArraySlice<UInt8>, mayBeAnySuffix: Bool = false) -> Bool {
    routes += 1
    return routes > FrontControllerQuery.maximumRoutes || leads(route: route, mayBeAnySuffix: mayBeAnySuffix)
  }

  /// True if an ordered selection of two or three of the parts is a route to an endpoint.
  private mutating func arrangementLeads() -> Bool {
    let parts = self.parts
    let slash = [UInt8(ascii: "/")]
    for first in parts.indices {
      for second in parts.indices where second != first {
        let pair = parts[first] + slash + parts[second]
        if leads(route: pair) { return true }
        for third in parts.indices where third != first && third != second {
          if leads(route: pair + slash + parts[third]) { return true }
        }
      }
    }
    return false
  }

  /// True if a program may read the route as an endpoint path without the first `count` segments of this endpoint path.
  /// Here, `count` is one of the `prefixLengths` of the endpoint or, if the route has `mayBeAnySuffix`, any number that
  /// leaves a segment. Also true if the route has too many readings to find out.
  ///
  /// - Parameter mayBeAnySuffix: True if the route may be the last segments of an endpoint path, however many, because
  ///   the program that reads the route may be installed under any path.
  private mutating func leads(route: ArraySlice<UInt8>, mayBeAnySuffix: Bool = false) -> Bool {
    if EndpointMatcher.isTooComplex(route.span) { return true }
    guard let texts = PathVariants.texts(of: Array(route), within: &budget) else { return true }
    for text in texts {
      guard let readings = CanonicalPath(text: text).readings else { return true }
      for reading in readings {
        for index in endpoints.indices {
          let isRead = { (offset: Int) in reading.mayBeServed(by: endpoints[index], from: offset) }
          let lengths = place.prefixLengths[index]
          if mayBeAnySuffix ? endpoints[index].names.indices.contains(where: isRead) : lengths.contains(where: isRead) {
            return true
          }
        }
      }
    }
    return false
  }

  /// Returns the value with a space in place of each `+`.
  private static func spaced(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard value.contains(UInt8(ascii: "+")) else { return value }
    return value.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }[...]
  }

  /// True if the value contains a slash or a backslash, or a character that may be decoded to one.
  private static func mayHaveSlash(_ value: ArraySlice<UInt8>) -> Bool {
    value.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "%") || $0 >= 0x80 }
  }
}
