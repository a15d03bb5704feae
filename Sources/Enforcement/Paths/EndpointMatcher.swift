internal import Bytes
import Policy

/// An endpoint whose requests the gateway handles itself or refuses, instead of only forwarding them.
public enum Endpoint: UInt8, Sendable, CaseIterable {
  case authorization
  case token
  case revocation
  case introspection
  /// An endpoint of the upstream for which the gateway has no rules, and which it therefore does not serve.
  case closed
  /// The gateway's endpoint for pushed authorization requests (RFC 9126).
  case pushed
  /// A metadata document of the upstream, which names endpoints that would bypass the gateway.
  case metadata
  /// The redirect URI of the gateway at the upstream.
  case callback
  /// The form of the consent page.
  case consent
  /// The link on the page that offers to restart a sign-in.
  case start
  /// Any other path under `/.proofgate/`.
  case own
}

/// The result of reading a path (`I-path`).
public enum PathMatch: Sendable, Equatable {
  /// The path is written exactly as an endpoint path.
  case exact(Endpoint)
  /// Some server may read the path as an endpoint, but it is not written exactly so: refused with 400.
  case ambiguous
  /// The path is written plainly, and is below an endpoint or begins like one: refused with 400 unless
  /// `upstream.not_endpoints` lists it.
  case resembling
  /// The path is unrelated to OAuth: passed through.
  case other
  /// A path unrelated to OAuth, but with a query that is an OAuth request: an endpoint that the policy does not list.
  case unlisted
  /// The path is unrelated to OAuth and not under a prefix that is passed through: 404.
  case notPassed
}

/// Reads request paths: exactly for the endpoints that the gateway serves, and as liberally as any server for paths
/// that must not bypass them.
///
/// A common path costs one pass and no allocation: if it does not even contain the letters of an endpoint in order, no
/// server can read it as that endpoint, unless a part of it is encoded.
public final class EndpointMatcher: Sendable {
  private struct Entry {
    let path: [UInt8]
    let endpoint: Endpoint
    /// The path in its most liberal reading.
    let reading: CanonicalPath
    /// The same reading with the suffix, which servers that compare only the beginning of a path do not remove.
    let beginning: CanonicalPath
    /// The letters and digits of `reading` in order, for the quick check.
    let letters: LetterPrefilter
  }

  private let entries: [Entry]
  /// The paths under `/.proofgate/` that have an endpoint.
  private let ownPaths: [[UInt8]: Endpoint]
  /// One bit for each length of an endpoint path, modulo 64: most request paths have none of these lengths.
  private let lengths: UInt64
  private let router = FrontControllerQuery()
  private let own = LetterPrefilter(CanonicalPath.ownName)
  private let passed: [(text: [UInt8], reading: CanonicalPath)]
  private let notEndpoints: [ExactPath]

  /// Prepares the matcher for a policy.
  /// - Parameters:
  ///   - paths: Returns the paths of an endpoint. Those under `/.proofgate/` belong to the gateway itself.
  ///   - pass: The prefixes that are passed through, e.g. `/static/`; empty to pass every path.
  ///   - notEndpoints: Paths that only resemble an endpoint, e.g. `/oauth/token_key`.
  public init(paths: (Endpoint) -> [String], pass: [String] = [], notEndpoints: [String] = []) {
    let all = Endpoint.allCases.flatMap { endpoint in paths(endpoint).map { (endpoint, Array($0.utf8)) } }
    ownPaths = Dictionary(
      all.filter { EndpointMatcher.isOwn($0.1) }.map { ($0.1, $0.0) }, uniquingKeysWith: { first, _ in first })
    entries = all.filter { !EndpointMatcher.isOwn($0.1) }.map { endpoint, bytes in
      let reading = CanonicalPath(endpoint: bytes)
      let letters = LetterPrefilter(reading.segments.joined().filter { $0 &- 0x61 < 26 || $0 &- 0x30 < 10 })
      return Entry(
        path: bytes, endpoint: endpoint, reading: reading, beginning: CanonicalPath(beginningOf: bytes),
        letters: letters)
    }
    lengths = entries.reduce(0) { $0 | EndpointMatcher.bit(ofLength: $1.path.count) }
    passed = pass.flatMap { prefix in
      let text = Array(prefix.utf8)
      var budget = PathVariants.Budget()
      let spellings = PathVariants.texts(of: text, within: &budget) ?? []
      return Set(spellings.map(CanonicalPath.init(text:))).map { (text, $0) }
    }
    self.notEndpoints = notEndpoints.map(ExactPath.init)
  }

  /// Reads a request target.
  ///
  /// - Parameters:
  ///   - path: The text before the first question mark.
  ///   - query: The text after it; empty without one. Programs that route by the query can be reached by any path.
  public func read(path: Span<UInt8>, query: Span<UInt8>) -> PathMatch {
    let look = query.isEmpty ? FrontControllerQuery.Look() : router.look(query)
    let mayRoute = look.mayRoute
    if lengths & EndpointMatcher.bit(ofLength: path.count) != 0, let endpoint = endpoint(at: path) {
      return mayRoute && routes(query, at: path) ? .ambiguous : .exact(endpoint)
    }
    let isSuspicious = couldBeAnEndpoint(path)
    guard isSuspicious || mayRoute || !passed.isEmpty else { return look.names.isRequest ? .unlisted : .other }
    guard !EndpointMatcher.isIntricate(path) else { return isSuspicious || passed.isEmpty ? .ambiguous : .notPassed }

    let bytes = [UInt8](copying: path)
    var budget = PathVariants.Budget()
    guard let texts = PathVariants.texts(of: bytes, within: &budget) else { return .ambiguous }
    let spellings = Set(texts.map(CanonicalPath.init(text:)))
    let isOwn = EndpointMatcher.isOwn(bytes)
    if isSuspicious, !isOwn {
      switch reach(bytes, spellings) {
      case .whole: return .ambiguous
      case .beginning where notEndpoints.contains { $0.matches(bytes) }: break
      case .beginning: return entry(for: path) == nil ? .ambiguous : .resembling
      case .none: if routesItself(texts, &budget) { return .ambiguous }
      }
    }
    if mayRoute, routes(query, at: spellings, bytes, &budget) { return .ambiguous }
    if isOwn { return .exact(ownPaths[bytes] ?? .own) }
    guard passes(bytes, spellings) else { return .notPassed }
    let names = mayRoute ? OAuthNames(form: [UInt8](copying: query)) : look.names
    return names.isRequest ? .unlisted : .other
  }

  private static func bit(ofLength count: Int) -> UInt64 { 1 &<< UInt64(count & 63) }

  private func endpoint(at path: Span<UInt8>) -> Endpoint? {
    for entry in entries where path.isEqual(to: entry.path.span) { return entry.endpoint }
    return nil
  }

  /// Reads a request target that is given as text.
  public func read(target: String) -> PathMatch {
    let bytes = target.utf8.span
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    return read(path: bytes.extracting(0..<mark), query: bytes.extracting(min(mark + 1, bytes.count)...))
  }

  /// Reads a request target that is given as the texts of its two parts.
  public func read(path: String, query: String = "") -> PathMatch {
    read(path: path.utf8.span, query: query.utf8.span)
  }

  /// The entry of `upstream.not_endpoints` that would permit a resembling path; `nil` for a path that no entry can
  /// name.
  public func entry(for path: Span<UInt8>) -> String? {
    guard let entry = ExactPath.entry(for: [UInt8](copying: path)) else { return nil }
    // The text in front of the first `*` must contain the name that resembles the endpoint; otherwise the entry would
    // permit other names too.
    let front = Array(entry.utf8.prefix { $0 != UInt8(ascii: "*") })
    return reach(front, [CanonicalPath(text: front)]) == .none ? nil : entry
  }

  /// The names in a path for the log, with `*` for each segment that may be an id or a secret; `nil` for an unusual
  /// path.
  public static func names(in path: Span<UInt8>) -> String? {
    ExactPath.entry(for: [UInt8](copying: path))
  }

  /// The part of an endpoint path that a request path contains.
  private enum Reach {
    case none
    /// The whole endpoint path, followed by more.
    case beginning
    case whole
  }

  /// Returns the largest part of an endpoint path that some server finds in one of the spellings.
  private func reach(_ path: [UInt8], _ spellings: Set<CanonicalPath>) -> Reach {
    guard let readings = CanonicalPath.readings(of: spellings) else { return .whole }
    var reach = Reach.none
    for reading in readings {
      if reading.isOwn { return .whole }
      for entry in entries {
        let isRead = reading.reaches(entry.reading)
        guard isRead || reading.continues(entry.beginning), !isPassed(path, spellings, below: entry.reading) else {
          continue
        }
        if isRead, reading.segments.count == entry.reading.segments.count { return .whole }
        reach = .beginning
      }
    }
    return reach
  }

  /// True if a rewriting rule could turn the end of the path into a query: it inserts the path into a query unchanged,
  /// or reads a decoded question mark as the real one.
  private func routesItself(_ texts: [[UInt8]], _ budget: inout PathVariants.Budget) -> Bool {
    let root: Set<CanonicalPath> = [CanonicalPath(segments: [])]
    let queries = texts.compactMap { text in
      text.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }.map { Array(text[($0 + 1)...]) }
    }
    return Set(queries).contains { query in
      router.look(query.span).mayRoute && routes(query.span, at: root, [UInt8(ascii: "/")], &budget)
    }
  }

  private func routes(
    _ query: Span<UInt8>, at places: Set<CanonicalPath>, _ path: [UInt8], _ budget: inout PathVariants.Budget
  ) -> Bool {
    router.routes([UInt8](copying: query), at: path, places, to: entries.map(\.reading), within: &budget)
  }

  /// The same check at the exact path of an endpoint.
  private func routes(_ query: Span<UInt8>, at path: Span<UInt8>) -> Bool {
    var budget = PathVariants.Budget()
    let bytes = [UInt8](copying: path)
    return routes(query, at: [CanonicalPath(text: bytes)], bytes, &budget)
  }

  /// True for a path with more than 64 segments, or with escapes and more than 4 KiB: no legitimate path is like that,
  /// and the cost of reading it in every way grows with these numbers.
  static func isIntricate(_ path: Span<UInt8>) -> Bool {
    var slashes = 0
    var isEscaped = false
    for index in path.indices {
      let byte = path[index]
      if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") { slashes += 1 }
      if byte == UInt8(ascii: "%") || byte >= 0x80 { isEscaped = true }
    }
    return slashes > 64 || (isEscaped && path.count > 4_096)
  }

  /// True if `pass` prefixes let the path through in every spelling. Only prefixes that are longer than the endpoint
  /// path count, because they name what is below it.
  private func isPassed(_ path: [UInt8], _ spellings: Set<CanonicalPath>, below endpoint: CanonicalPath) -> Bool {
    let below = passed.filter { prefix in
      prefix.reading.segments.count > endpoint.segments.count && prefix.reading.reaches(endpoint)
        && EndpointMatcher.lies(path, under: prefix.text)
    }
    return !below.isEmpty
      && spellings.allSatisfy { spelling in below.contains { spelling.lies(under: $0.reading) } }
  }

  /// The quick check: false if no reading of the path can be an endpoint.
  private func couldBeAnEndpoint(_ path: Span<UInt8>) -> Bool {
    let found = LetterPrefilter.set(of: path)
    // Escapes, characters beyond ASCII and the short names of Windows hide letters.
    if found & LetterPrefilter.disguise != 0 { return true }
    if own.isPart(of: found), own.isInOrder(in: path) { return true }
    for index in entries.indices where entries[index].letters.isPart(of: found) {
      if entries[index].letters.isInOrder(in: path) { return true }
    }
    return false
  }

  /// True if the path belongs to the gateway itself and is written plainly.
  private static func isOwn(_ path: [UInt8]) -> Bool {
    guard path.starts(with: GatewaySettings.ownPath.utf8) else { return false }
    let rest = path.dropFirst(GatewaySettings.ownPath.utf8.count)
    return !rest.isEmpty
      && rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { segment in
        !segment.isEmpty && segment.first != UInt8(ascii: ".")
          && segment.allSatisfy { CanonicalPath.isPlain($0) }
      }
  }

  /// True if the path is under a prefix that is passed through, in every spelling.
  private func passes(_ path: [UInt8], _ spellings: Set<CanonicalPath>) -> Bool {
    guard !passed.isEmpty else { return true }
    return passed.contains { EndpointMatcher.lies(path, under: $0.text) }
      && spellings.allSatisfy { spelling in passed.contains { spelling.lies(under: $0.reading) } }
  }

  /// True if the path is under the prefix: `/app` contains `/app` and `/app/x`, but not `/apple`.
  private static func lies(_ path: [UInt8], under prefix: [UInt8]) -> Bool {
    guard path.starts(with: prefix) else { return false }
    return path.count == prefix.count || prefix.last == UInt8(ascii: "/") || path[prefix.count] == UInt8(ascii: "/")
  }
}
