internal import Bytes
public import Policy

/// What a path leads to.
public enum Endpoint: Sendable, Equatable, CaseIterable {
  case authorization
  case token
  case revocation
  case introspection
  /// Where clients push authorization requests (RFC 9126): the gateway's own.
  case pushed
  /// An endpoint of the upstream that the gateway does not police and therefore does not serve.
  case closed
  /// The gateway's own, under `/.proofgate/`.
  case own
}

/// How a path is read (`I-path`).
public enum PathReading: Sendable, Equatable {
  /// Written exactly as an endpoint is.
  case exact(Endpoint)
  /// Some server takes it for an endpoint, and it is not written exactly so: refused with 400.
  case ambiguous
  /// Nothing to do with OAuth: passed through.
  case other
  /// Nothing to do with OAuth, and not under a prefix that is passed through: 404.
  case notPassed
}

/// Reads request paths: exactly for what is served, and as liberally as any server for what must not slip by.
///
/// The common path costs one pass and no allocation: a path whose letters do not even contain an endpoint's, in order,
/// cannot be read as that endpoint, unless something in it is encoded.
public struct EndpointMatcher: Sendable {
  private struct Entry {
    let path: [UInt8]
    let endpoint: Endpoint
    /// What the path comes down to in its most liberal reading.
    let reading: CanonicalPath
    /// The letters of `reading` in order, for the quick look.
    let letters: [UInt8]
  }

  private let entries: [Entry]
  private let router = RouterQuery()
  private let passed: [(text: [UInt8], reading: CanonicalPath)]

  /// - Parameters:
  ///   - endpoints: The upstream's endpoints.
  ///   - pass: Prefixes that are passed through, e.g. `/static/`; empty: everything.
  ///   - takesPushedRequests: Whether the endpoint for them is served; it is closed otherwise.
  public init(endpoints: Endpoints, pass: [String] = [], takesPushedRequests: Bool = false) {
    let all: [(Endpoint, [String])] = [
      (.authorization, endpoints.authorization), (.token, endpoints.token), (.revocation, endpoints.revocation),
      (.introspection, endpoints.introspection), (.closed, endpoints.closed),
      (takesPushedRequests ? .pushed : .closed, endpoints.pushedAuthorization),
    ]
    entries = all.flatMap { endpoint, paths in
      paths.map { path in
        let bytes = Array(path.utf8)
        let reading = CanonicalPath(endpoint: bytes)
        return Entry(
          path: bytes, endpoint: endpoint, reading: reading, letters: Array(reading.segments.joined()))
      }
    }
    passed = pass.flatMap { prefix in
      (CanonicalPath.spellings(of: Array(prefix.utf8)) ?? []).map { (Array(prefix.utf8), $0) }
    }
  }

  /// Reads a request target.
  ///
  /// - Parameters:
  ///   - path: What stands before the first question mark.
  ///   - query: What follows it; empty without one. Programs that route by it are reached by any path.
  public func read(path: Span<UInt8>, query: Span<UInt8>) -> PathReading {
    let reading = read(path)
    guard !query.isEmpty, reading != .ambiguous, reading != .notPassed, router.mayRoute(query) else { return reading }
    guard !EndpointMatcher.isIntricate(path) else { return .ambiguous }
    let isRouted = router.routes(
      [UInt8](copying: query), at: [UInt8](copying: path), to: entries.map(\.reading))
    return isRouted ? .ambiguous : reading
  }

  /// Reads a target that is at hand as text.
  public func read(target: String) -> PathReading {
    let bytes = target.utf8.span
    let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    return read(path: bytes.extracting(0..<mark), query: bytes.extracting(min(mark + 1, bytes.count)...))
  }

  /// The same of a target's parts.
  public func read(path: String, query: String = "") -> PathReading {
    read(path: path.utf8.span, query: query.utf8.span)
  }

  private func read(_ path: Span<UInt8>) -> PathReading {
    for entry in entries where path.isEqual(to: entry.path.span) { return .exact(entry.endpoint) }
    guard couldBeAnEndpoint(path) else { return passes(path) ? .other : .notPassed }
    guard !EndpointMatcher.isIntricate(path) else { return .ambiguous }

    let bytes = [UInt8](copying: path)
    if EndpointMatcher.isOwn(bytes) { return .exact(.own) }
    guard let readings = CanonicalPath.readings(of: bytes) else { return .ambiguous }
    for reading in readings {
      if reading.isOwn { return .ambiguous }
      for entry in entries where reading.reaches(entry.reading) && !isPassed(bytes, below: entry.reading) {
        return .ambiguous
      }
    }
    return passes(path) ? .other : .notPassed
  }

  /// More than 64 segments, or longer than 1 KiB with something escaped: nobody writes such a path, and reading it in
  /// every way costs time in proportion.
  static func isIntricate(_ path: Span<UInt8>) -> Bool {
    var slashes = 0
    var isEscaped = false
    for index in path.indices {
      let byte = path[index]
      if byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") { slashes += 1 }
      if byte == UInt8(ascii: "%") || byte >= 0x80 { isEscaped = true }
    }
    return slashes > 64 || (isEscaped && path.count > 1_024)
  }

  /// Whether a prefix that is longer than the endpoint's own path, and so names what is below it, lets the path by, in
  /// every spelling.
  private func isPassed(_ path: [UInt8], below endpoint: CanonicalPath) -> Bool {
    let below = passed.filter { prefix in
      prefix.reading.segments.count > endpoint.segments.count && prefix.reading.reaches(endpoint)
        && EndpointMatcher.lies(path, under: prefix.text)
    }
    guard !below.isEmpty, let spellings = CanonicalPath.spellings(of: path) else { return false }
    return spellings.allSatisfy { spelling in
      below.contains { spelling.lies(under: $0.reading) }
    }
  }

  /// The quick look: whether the slow reading could find an endpoint at all.
  private func couldBeAnEndpoint(_ path: Span<UInt8>) -> Bool {
    for index in path.indices where path[index] >= 0x80 || path[index] == UInt8(ascii: "%") { return true }
    if EndpointMatcher.contains(path, lettersOf: CanonicalPath.ownName) { return true }
    return entries.contains { EndpointMatcher.contains(path, lettersOf: $0.letters) }
  }

  /// Whether `letters` occur in the path, in order, with anything between them.
  private static func contains(_ path: Span<UInt8>, lettersOf letters: [UInt8]) -> Bool {
    var next = 0
    for index in path.indices {
      guard next < letters.count else { return true }
      if CanonicalPath.lowercased(path[index]) == letters[next] { next += 1 }
    }
    return next == letters.count
  }

  /// Whether the path is one of the gateway's own and written plainly.
  private static func isOwn(_ path: [UInt8]) -> Bool {
    guard path.starts(with: GatewaySettings.ownPath.utf8) else { return false }
    let rest = path.dropFirst(GatewaySettings.ownPath.utf8.count)
    return !rest.isEmpty
      && rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { segment in
        !segment.isEmpty && segment.first != UInt8(ascii: ".")
          && segment.allSatisfy { CanonicalPath.isPlain($0) }
      }
  }

  /// Whether the path lies under a prefix that is passed through, in every reading.
  private func passes(_ path: Span<UInt8>) -> Bool {
    guard !passed.isEmpty else { return true }
    let bytes = [UInt8](copying: path)
    guard !EndpointMatcher.isIntricate(path), passed.contains(where: { EndpointMatcher.lies(bytes, under: $0.text) }),
      let spellings = CanonicalPath.spellings(of: bytes)
    else { return false }
    return spellings.allSatisfy { spelling in
      passed.contains { spelling.lies(under: $0.reading) }
    }
  }

  /// `/app` holds `/app` and `/app/x`, and not `/apple`.
  private static func lies(_ path: [UInt8], under prefix: [UInt8]) -> Bool {
    guard path.starts(with: prefix) else { return false }
    return path.count == prefix.count || prefix.last == UInt8(ascii: "/") || path[prefix.count] == UInt8(ascii: "/")
  }
}
