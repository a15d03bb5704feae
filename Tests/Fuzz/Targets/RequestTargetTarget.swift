import PathReading
import Policy

/// Input: a request target. A path that a lenient server maps to an endpoint never passes as another path.
enum RequestTargetTarget {
  private static let matcher = EndpointMatcher(
    endpoints: EndpointPaths(
      authorization: ["/authorize"], token: ["/oauth/token"], revocation: ["/revoke"], closed: ["/par"]))
  private static let confined = EndpointMatcher(
    endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/oauth/token"]), passPrefixes: ["/static/"])
  private static let endpoints: [String: Endpoint] = [
    "/authorize": .authorization, "/oauth/token": .token, "/revoke": .revocation, "/par": .closed,
  ]
  private static let listing = EndpointMatcher(
    endpoints: EndpointPaths(authorization: ["/authorize"], token: ["/oauth/token"]),
    notEndpoints: ["/authorized", "/oauth/token/*"])

  static func check(_ input: [UInt8]) throws(Violation) {
    // The targets that the parser of the head accepts.
    guard input.first == UInt8(ascii: "/"), input.count <= 8192,
      input.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") })
    else { return }
    let path = Array(input.prefix { $0 != UInt8(ascii: "?") })
    let query = Array(input.dropFirst(path.count + 1))
    let reading = matcher.read(path: path.span, query: query.span)
    let text = String(decoding: path, as: UTF8.self)
    if case .exact(let endpoint) = reading {
      let isOwn = endpoint == .otherOwnPath && text.hasPrefix("/.proofgate/")
      try Violation.unless(isOwn || endpoints[text] == endpoint, "`\(endpoint)` for a path that is not written so")
    } else {
      try Violation.unless(endpoints[text] == nil || reading == .ambiguous, "an endpoint is not recognised")
    }
    if reading == .notEndpoint { try checkRoutes(path, query) }
    if listing.read(path: path.span, query: query.span) == .notEndpoint {
      try checkListed(String(decoding: path, as: UTF8.self))
    }
    try checkRoute(path)
    let isConfined = confined.read(path: path.span, query: query.span) == .notEndpoint
    // Two programs in a row, each of which decodes a number of times and then resolves the path.
    for (first, second) in [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1)] {
      for merging in [true, false] {
        let text = folded(folded(path, first, merging: merging), second, merging: merging)
        let folded = String(decoding: text, as: UTF8.self).lowercased()
        if reading == .notEndpoint || reading == .notPassed {
          try Violation.unless(
            !endpoints.keys.contains { folded.hasPrefix($0) } && !folded.hasPrefix("/.proofgate/"),
            "`\(folded)` in another spelling is passed on"
          )
        }
        try Violation.unless(
          !isConfined || "\(folded)/".hasPrefix("/static/"), "a path that leads out of the prefix is passed on")
      }
    }
  }

  private static let prefixes = ["/files", "/files/large", "/static"]
  private static let routes = PathPrefixes(prefixes)

  /// A program that decodes the path a number of times and then resolves it finds it under the prefix of its route, and
  /// under no longer one.
  private static func checkRoute(_ path: [UInt8]) throws(Violation) {
    let match = routes.match(path.span)
    if match == .ambiguous { return }
    for decodings in 0...3 {
      for merging in [true, false] {
        let text = String(decoding: folded(path, decodings, merging: merging), as: UTF8.self).lowercased()
        let index = prefixes.indices.filter { "\(text)/".hasPrefix("\(prefixes[$0])/") }.last
        try Violation.unless(
          match == (index.map { .prefix($0) } ?? .none), "`\(text)` lies under another prefix than its route")
      }
    }
  }

  /// With entries in `not_endpoints` only the listed path passes, in no other spelling.
  private static func checkListed(_ text: String) throws(Violation) {
    for (decodings, merging) in [(0, true), (1, true), (1, false), (2, true)] {
      let folded = String(decoding: folded(Array(text.utf8), decodings, merging: merging), as: UTF8.self).lowercased()
      guard folded.hasPrefix("/authorize") || folded.hasPrefix("/oauth/token") else { continue }
      let isListed = text == "/authorized" || text.hasPrefix("/oauth/token/")
      try Violation.unless(
        isListed && (text == folded || folded.hasPrefix("/oauth/token/")), "`\(folded)` is not listed and passes")
    }
  }

  /// Programs that take their route from the query, as frameworks do by default: `/?/oauth/token/a:b` of CodeIgniter,
  /// on the path of a directory or of `index.php`; a parameter such as `r`; and a name after `action:` of Struts.
  private static func checkRoutes(_ path: [UInt8], _ query: [UInt8]) throws(Violation) {
    guard path == Array("/".utf8) || path == Array("/index.php".utf8) else { return }
    var routes: [[UInt8]] = []
    if query.first == UInt8(ascii: "/") { routes.append(Array(query.prefix { $0 != UInt8(ascii: "?") })) }
    for pair in query.split(separator: UInt8(ascii: "&")) {
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      if halves.count == 2, ["q", "r", "route"].contains(String(decoding: halves[0], as: UTF8.self)) {
        routes.append(decoded(halves[1].map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }))
      }
      if halves[0].starts(with: "action:".utf8) { routes.append(Array(halves[0].dropFirst("action:".utf8.count))) }
    }
    for route in routes {
      for decodings in 0...1 {
        let text = String(decoding: folded(Array("/".utf8) + route, decodings, merging: true), as: UTF8.self)
        try Violation.unless(
          !endpoints.keys.contains { "\(text)/".hasPrefix("\($0)/") }, "a query that routes to `\(text)` is passed on")
      }
    }
  }

  /// The path after this number of decodings, with backslashes, parameters, empty and dot segments handled as by
  /// servers that merge slashes before they resolve dots, or after.
  private static func folded(_ path: [UInt8], _ decodings: Int, merging: Bool) -> [UInt8] {
    var bytes = path
    for _ in 0..<decodings { bytes = decoded(bytes) }
    var segments: [[UInt8]] = []
    let isSlash: (UInt8) -> Bool = { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    for part in bytes.dropFirst().split(omittingEmptySubsequences: merging, whereSeparator: isSlash) {
      let segment = Array(part.prefix { $0 != UInt8(ascii: ";") && $0 != 0 })
      if segment == Array("..".utf8) {
        _ = segments.popLast()
      } else if !merging || !segment.isEmpty, segment != Array(".".utf8) {
        segments.append(segment)
      }
    }
    return Array("/".utf8) + segments.filter { !$0.isEmpty }.joined(separator: Array("/".utf8))
  }

  private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16),
        bytes[index + 1] != UInt8(ascii: "+"), bytes[index + 1] != UInt8(ascii: "-")
      {
        decoded.append(byte)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return decoded
  }
}
