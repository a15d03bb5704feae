internal import ByteText

/// Finds endpoint paths in a query. Some programs read from the query which page to serve, for example from
/// `/?rest_route=/oauth/token`. A text that a program reads in this way is called a route.
struct FrontControllerQuery {
  /// The parameters from which a program may read a route on any path, because a server may rewrite every path to that
  /// program.
  static let namesOnAnyPath: Set<String> = [
    "q", "r", "s", "rt", "route", "_route", "_route_", "__route__", "rest_route", "oauth", "oauth2", "_url",
    "kohana_uri", "pathinfo", "path_info", "pagename", "routestring",
  ]
  /// The parameters from which only the front controller of a site reads a route. The front controller is the program
  /// that serves all pages of the site. On other paths, these parameters usually contain return addresses or page
  /// numbers.
  static let namesAtFrontControllers: Set<String> = [
    "path", "url", "uri", "page", "p", "action", "a", "act", "do", "op", "cmd", "mod", "task", "view", "option", "go",
    "load", "method", "endpoint", "service", "handler", "query", "api", "module", "m", "controller", "c", "ctrl", "ctl",
    "app", "class", "d", "event", "fuseaction", "rm", "presenter",
  ]
  /// The parameters of front controllers that contain only a part of a route, such as a controller or an action.
  /// Frameworks disagree about which parameter contains which part.
  static let partNames: Set<String> = [
    "module", "mod", "m", "controller", "c", "ctrl", "ctl", "class", "app", "d", "action", "act", "a", "do", "op",
    "task",
    "method", "presenter",
  ]
  /// The maximum number of routes in a query. No legitimate request has more. The limit is low because each route is
  /// read in all ways in which a path is read.
  static let maximumRoutes = 12

  /// The name of a parameter from which a program may read a route.
  struct RouteName: Sendable {
    let text: [UInt8]
    /// True for a name of `namesOnAnyPath`.
    let isOnAnyPath: Bool
    /// True for a name of `partNames`.
    let isPart: Bool

    fileprivate init(_ name: String) {
      text = Array(name.utf8)
      isOnAnyPath = namesOnAnyPath.contains(name)
      isPart = partNames.contains(name)
    }
  }

  /// The names of both kinds of parameters. The index is their length in bytes.
  private let namesByLength: [[RouteName]] = {
    let all = namesOnAnyPath.union(namesAtFrontControllers).map(RouteName.init)
    let longest = all.map(\.text.count).max() ?? 0
    return (0...longest).map { length in all.filter { $0.text.count == length } }
  }()

  /// The result of `quickCheck(_:)`.
  struct QuickCheck {
    /// True if the query may contain a route. It then contains a semicolon or one of these parameters: one without an
    /// equals sign, one whose name must be decoded, or one whose name is in `namesOnAnyPath` or
    /// `namesAtFrontControllers`. Or the path may be that of a program which reads the rest of an endpoint path from a
    /// parameter with any name.
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
  static func endOfName(in query: Span<UInt8>, from start: Int) -> Int {
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
  static func isPlain(_ byte: UInt8) -> Bool {
    byte != UInt8(ascii: ".") && CanonicalPath.isPlain(byte.lowercasedASCII)
  }

  private func isRouteName(_ name: Span<UInt8>) -> Bool { indexOfRouteName(name) != nil }

  /// Returns the entry for a name in upper or lower case; `nil` if no program reads a route from such a parameter.
  func routeName(_ name: Span<UInt8>) -> RouteName? {
    indexOfRouteName(name).map { namesByLength[name.count][$0] }
  }

  /// Returns the index of a name among those of its length.
  private func indexOfRouteName(_ name: Span<UInt8>) -> Int? {
    let namesByLength = namesByLength.span
    guard name.count < namesByLength.count else { return nil }
    let candidates = namesByLength[name.count].span
    for index in candidates.indices where candidates[index].text.span.isEqualIgnoringCase(to: name) { return index }
    return nil
  }
}
