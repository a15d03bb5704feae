internal import ByteText

/// An endpoint at which the gateway handles or refuses requests, instead of only forwarding them.
public enum Endpoint: UInt8, Sendable, CaseIterable {
  case authorization
  case token
  case revocation
  case introspection
  /// An endpoint of the upstream at which the gateway refuses every request, such as dynamic client registration.
  case closed
  /// The gateway's endpoint for pushed authorization requests (RFC 9126).
  case pushedAuthorization
  /// The gateway's own metadata document (RFC 8414; OpenID Connect Discovery).
  case metadata
  /// A metadata document of the upstream. It contains the upstream's own endpoints, and a client that used them would
  /// bypass the gateway.
  case upstreamMetadata
  /// The gateway's redirect URI at the upstream.
  case callback
  /// The endpoint that receives the form of the consent page.
  case consent
  /// The endpoint for the link by which a user restarts a sign-in.
  case start
  /// The gateway's own introspection endpoint, for resource servers (RFC 7662).
  case resourceIntrospection
  /// A metadata document of a resource on the gateway's origin (RFC 9728).
  case protectedResource
  /// The gateway's endpoint for dynamic client registration (RFC 7591).
  case registration
  /// The gateway's device authorization endpoint (RFC 8628, section 3.1).
  case deviceAuthorization
  /// The page on which a user enters the code of a device (RFC 8628, section 3.3).
  case deviceVerification
  /// The address of that page as a QR code.
  case deviceQRCode
  /// The pages that explain the rules.
  case rulePages
  /// Any other path under the gateway's own path, `/.proofgate/`.
  case otherOwnPath

  /// True for an endpoint that only the gateway has, so that a request for it never passes.
  public var isOwn: Bool {
    switch self {
    case .callback, .consent, .start, .resourceIntrospection, .protectedResource, .registration, .deviceVerification,
      .deviceQRCode, .rulePages, .otherOwnPath:
      true
    case .authorization, .token, .revocation, .introspection, .closed, .pushedAuthorization, .metadata,
      .upstreamMetadata, .deviceAuthorization:
      false
    }
  }
}

/// The result of reading a request target. No spelling of an endpoint path bypasses the rules of the endpoint
/// (invariant `I-path`).
public enum PathMatch: Sendable, Equatable {
  /// The path is exactly an endpoint path.
  case exact(Endpoint)
  /// Some server may read the path as an endpoint path that is written differently, or may read an endpoint path from
  /// the query. Or the request target is too complicated to find this out. The request is refused with 400.
  case ambiguous
  /// The path begins like an endpoint path and continues. An entry of `upstream.not_endpoints` could permit the path,
  /// but the policy has no such entry, so the request is refused with 400.
  case resembling
  /// The path is not an endpoint path, or `upstream.not_endpoints` lists it. The request is forwarded.
  case notEndpoint
  /// The path is not a known endpoint path, but the query contains the parameters of an OAuth request. The path may
  /// belong to an endpoint that the policy does not list. The setting `unlisted_oauth` decides whether the request is
  /// refused.
  case unlisted
  /// The path is not an endpoint path, and is not under a prefix in `upstream.pass`. The request is refused with 404.
  case notPassed
}

/// Finds the endpoint of a request path. An endpoint is served only at its exact path. Any other path is read in every
/// way in which some server may read it, so that no spelling of an endpoint path bypasses the rules.
///
/// A spelling is a text that a path can become when servers decode and normalise it (`PathVariants`). A reading is a
/// spelling, or the part of a spelling that a program named in the path, such as `index.php`, would use as its path
/// (`CanonicalPath`).
///
/// Most paths need only one pass and no allocation: a path that hides no letters (`LetterPrefilter`) can be read as an
/// endpoint path only if it contains the letters of this endpoint path in their order.
public final class EndpointMatcher: Sendable {
  private struct Entry {
    let path: [UInt8]
    let endpoint: Endpoint
    /// The endpoint path without its suffix.
    let canonicalPath: EndpointPath
    /// The same with the names of the programs in the path; `nil` if there are none.
    let pathNamingPrograms: EndpointPath?
    /// The endpoint path with its suffix, for servers that compare only the beginning of a path and so keep the suffix.
    let canonicalPathWithSuffix: EndpointPath
    /// The letters and digits of `canonicalPath`, in order, for the quick check.
    let letters: LetterPrefilter

    /// True if a server may serve a request for the path of a reading at this endpoint.
    func mayServe(_ reading: PathReading) -> Bool {
      reading.mayBeServed(by: canonicalPath) || pathNamingPrograms.map { reading.mayBeServed(by: $0) } ?? false
    }

    /// True if the reading, which `mayServe` accepts, is the whole path of the endpoint.
    func isWhole(_ reading: PathReading) -> Bool {
      reading.count == canonicalPath.names.count || reading.count == pathNamingPrograms?.names.count
    }
  }

  private let entries: [Entry]
  /// The endpoint paths without their suffixes, of which queries may contain a part.
  private let endpointPaths: [EndpointPath]
  /// The letters of the first segments of the endpoint paths that have several segments.
  private let firstLetters: [LetterPrefilter]
  /// The letters that all of these segments have in common. Most paths lack one, and need no further comparison.
  private let commonFirstLetters: UInt64
  /// The names of the endpoints below `/.well-known/`.
  private let wellKnownNames: [SegmentName]
  /// The gateway's endpoints under `/.proofgate/`, by their paths.
  private let ownEndpoints: [[UInt8]: Endpoint]
  /// A bit for the length of each endpoint path, modulo 64. Most other request paths have a length without a bit, so
  /// they are compared with no endpoint path.
  private let lengths: UInt64
  private let queryReader = FrontControllerQuery()
  private let ownPath: OwnPath
  /// The prefixes of `upstream.pass`: one element for each spelling of each prefix.
  private let passPrefixes: [(text: [UInt8], spelling: CanonicalPath)]
  /// True if every path is forwarded.
  private let passesEveryPath: Bool
  private let notEndpoints: [NotEndpointPattern]
  private let signInPages: [[UInt8]]

  /// Creates the matcher for a policy.
  /// - Parameters:
  ///   - ownPath: The path under which the gateway has its own endpoints: one segment between two slashes.
  ///   - paths: Returns the paths of an endpoint. Those under `ownPath` belong to the gateway itself.
  ///   - passPrefixes: The prefixes of the paths that are forwarded, such as `/static/`; `nil` to forward every path.
  ///   - notEndpoints: The paths that only resemble an endpoint path, such as `/oauth/token_key`.
  ///   - signInPages: The paths of the pages that complete sign-ins, such as `/login`.
  public init(
    ownPath: String, paths: (Endpoint) -> [String], passPrefixes: [String]? = nil, notEndpoints: [String] = [],
    signInPages: [String] = []
  ) {
    let ownPath = OwnPath(ownPath)
    self.ownPath = ownPath
    let all = Endpoint.allCases.flatMap { endpoint in paths(endpoint).map { (endpoint, Array($0.utf8)) } }
    ownEndpoints = Dictionary(
      all.filter { ownPath.contains($0.1.span) }.map { ($0.1, $0.0) }, uniquingKeysWith: { first, _ in first })
    entries = all.filter { !ownPath.contains($0.1.span) }.map { endpoint, bytes in
      let canonicalPath = EndpointPath(bytes, removingSuffix: true)
      return Entry(
        path: bytes, endpoint: endpoint, canonicalPath: canonicalPath,
        pathNamingPrograms: EndpointPath.namingPrograms(bytes),
        canonicalPathWithSuffix: EndpointPath(bytes, removingSuffix: false),
        letters: LetterPrefilter(canonicalPath.names.flatMap(\.letters)))
    }
    endpointPaths = entries.flatMap { entry in
      let hasProgram = EndpointPath.hasProgramOfItsOwn(entry.path)
      return [entry.canonicalPath] + (hasProgram ? [entry.pathNamingPrograms].compactMap(\.self) : [])
    }
    // No program rewrites the well-known paths, and their letters would let more paths be compared.
    let firstNames = endpointPaths.filter { $0.names.count > 1 }.compactMap(\.names.first)
    firstLetters = Set(firstNames.filter { $0.text != PathReading.wellKnown.text }.map(\.letters))
      .map(LetterPrefilter.init)
    commonFirstLetters = firstLetters.reduce(~LetterPrefilter.disguiseBit) { $0 & $1.set }
    wellKnownNames = endpointPaths.compactMap { path in
      path.names.count == 2 && path.names[0].text == PathReading.wellKnown.text ? path.names[1] : nil
    }
    lengths = entries.reduce(0) { $0 | EndpointMatcher.bit(ofLength: $1.path.count) }
    passesEveryPath = passPrefixes == nil
    self.passPrefixes = (passPrefixes ?? []).flatMap { prefix in
      let text = Array(prefix.utf8)
      var budget = PathVariants.Budget()
      let spellings = PathVariants.texts(of: text, within: &budget) ?? []
      return spellings.map { (text, CanonicalPath(text: $0)) }
    }
    self.notEndpoints = notEndpoints.map(NotEndpointPattern.init)
    self.signInPages = signInPages.map { Array($0.utf8) }
  }

  /// The result of one pass over a request target.
  public struct Glance {
    /// The result of the reading; `nil` if other spellings of the target must be compared too (`read(path:query:after:)`).
    public let match: PathMatch?
    /// True if this comparison may take more than 1,000,000 instructions.
    public let mayBeExpensive: Bool
    fileprivate let check: FrontControllerQuery.QuickCheck
    fileprivate let isSuspicious: Bool
    /// The endpoint with exactly this path.
    fileprivate let endpoint: Endpoint?
  }

  /// The number of bytes up to which no target is expensive. A path that may hide the path of an endpoint, or a query that may
  /// contain a route, is compared in up to 64 spellings. A query of 40 bytes with many short routes takes 4,500,000
  /// instructions, and one of 128 bytes 8,000,000 (`make cost`).
  private static let cheapLength = 16
  /// The same for other targets, which are only compared with the prefixes of `upstream.pass`.
  private static let cheapOrdinaryLength = 1_024

  /// Reads a request target in one pass, which is sufficient for most targets.
  ///
  /// - Parameters:
  ///   - path: The text in front of the first question mark.
  ///   - query: The text after the question mark; empty without one. Some programs read from the query which page to
  ///     serve.
  public func glance(path: Span<UInt8>, query: Span<UInt8>) -> Glance {
    var check = query.isEmpty ? FrontControllerQuery.QuickCheck() : queryReader.quickCheck(query)
    var endpoint: Endpoint?
    var isSuspicious = false
    var match: PathMatch?
    if lengths & EndpointMatcher.bit(ofLength: path.count) != 0, let found = self.endpoint(at: path) {
      endpoint = found
      if !check.mayContainRoute { match = .exact(found) }
    } else {
      let found = LetterPrefilter.set(of: path)
      isSuspicious = couldBeAnEndpoint(path, found)
      if commonFirstLetters & ~found == 0, !query.isEmpty, mayBeCompleted(path, found, by: query) {
        check.mayContainRoute = true
      }
      if !isSuspicious, !check.mayContainRoute, passesEveryPath {
        match = check.oauthNames.indicateOAuthQuery ? unlisted(path, check.oauthNames) : .notEndpoint
      }
    }
    let cheapLength =
      isSuspicious || check.mayContainRoute ? EndpointMatcher.cheapLength : EndpointMatcher.cheapOrdinaryLength
    return Glance(
      match: match, mayBeExpensive: match == nil && path.count + query.count > cheapLength,
      check: check, isSuspicious: isSuspicious, endpoint: endpoint)
  }

  /// Reads a request target.
  ///
  /// - Parameters:
  ///   - path: The text in front of the first question mark.
  ///   - query: The text after the question mark; empty without one.
  public func read(path: Span<UInt8>, query: Span<UInt8>) -> PathMatch {
    read(path: path, query: query, after: glance(path: path, query: query))
  }

  /// Reads a request target.
  ///
  /// - Parameter glance: The result of `glance(path:query:)` for this target.
  public func read(path: Span<UInt8>, query: Span<UInt8>, after glance: Glance) -> PathMatch {
    if let match = glance.match { return match }
    let check = glance.check
    let isSuspicious = glance.isSuspicious
    var queryMayContainRoute = check.mayContainRoute
    if let endpoint = glance.endpoint { return leadsToEndpoint(query, at: path) ? .ambiguous : .exact(endpoint) }
    guard !EndpointMatcher.isTooComplex(path) else {
      // Only all spellings together can show that a path is under a prefix of `upstream.pass`.
      return isSuspicious || passesEveryPath ? .ambiguous : .notPassed
    }

    let bytes = [UInt8](copying: path)
    var budget = PathVariants.Budget()
    guard let texts = PathVariants.texts(of: bytes, within: &budget) else { return .ambiguous }
    let isOwnPath = ownPath.contains(path)
    if isSuspicious, PathVariants.hasEncodedLineBreak(path) { return .ambiguous }
    if isSuspicious, !isOwnPath {
      switch endpointPart(of: bytes, texts) {
      case .whole: return .ambiguous
      case .beginning where notEndpoints.contains { $0.matches(bytes) }: break
      case .beginning: return suggestedNotEndpointsEntry(for: path) == nil ? .ambiguous : .resembling
      case .none: if containsRoutingQuery(texts, &budget) { return .ambiguous }
      }
    }
    // A path with escapes shows its first segment only in its spellings.
    if isSuspicious, !queryMayContainRoute, !query.isEmpty {
      queryMayContainRoute = texts.contains { mayBeCompleted($0.span, LetterPrefilter.set(of: $0.span), by: query) }
    }
    if queryMayContainRoute, leadsToEndpoint(query, at: place(of: bytes, texts, mayBeRewritten: true), &budget) {
      return .ambiguous
    }
    if isOwnPath { return .exact(ownEndpoints[bytes] ?? .otherOwnPath) }
    guard isUnderPassPrefix(bytes, texts) else { return .notPassed }
    // A quick check that found a possible route has stopped early, so its names are incomplete.
    let names = queryMayContainRoute ? OAuthNames(form: query) : check.oauthNames
    return names.indicateOAuthQuery ? unlisted(path, names) : .notEndpoint
  }

  private func unlisted(_ path: Span<UInt8>, _ names: OAuthNames) -> PathMatch {
    isAuthorization(at: path, names) ? .exact(.authorization) : .unlisted
  }

  /// Returns true if an OAuth request that is not at an endpoint has the rules of an authorization request: it is for the
  /// exact path of a page that completes sign-ins, and is no token request. A server redirects to such a page with all
  /// parameters of the authorization request.
  ///
  /// - Parameter names: The parameters of the query, or of the query and the form.
  public func isAuthorization(at path: Span<UInt8>, _ names: OAuthNames) -> Bool {
    !names.contains(.grantType) && signInPages.contains { $0.span.isEqual(to: path) }
  }

  private static func bit(ofLength count: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: count) }

  /// Returns the endpoint whose path equals `path` byte for byte.
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

  /// Reads a request target whose two parts are given as texts.
  public func read(path: String, query: String = "") -> PathMatch {
    read(path: path.utf8.span, query: query.utf8.span)
  }

  /// Returns an entry for `upstream.not_endpoints` that would permit this path, which begins like an endpoint path;
  /// `nil` if no entry can match the path, or if the entry would also permit paths with other names.
  public func suggestedNotEndpointsEntry(for path: Span<UInt8>) -> String? {
    guard let entry = NotEndpointPattern.entry(for: [UInt8](copying: path)) else { return nil }
    // The text in front of the first `*` must contain the name that resembles the endpoint. Otherwise `*` could match
    // this name and any other.
    let front = Array(entry.utf8.prefix { $0 != UInt8(ascii: "*") })
    return endpointPart(of: front, [front]) == .none ? nil : entry
  }

  /// Returns the path for the log, with `*` in place of each segment that may be an id or a secret; `nil` if the path
  /// has more than 256 bytes, or a segment that is neither a plain name nor a text that `*` of `upstream.not_endpoints`
  /// matches.
  public static func redacted(_ path: Span<UInt8>) -> String? {
    NotEndpointPattern.entry(for: [UInt8](copying: path))
  }

  /// The part of a request path that some server may read as an endpoint path.
  private enum EndpointPart {
    case none
    /// The first segments of the request path.
    case beginning
    /// The whole request path.
    case whole
  }

  /// Returns the largest part of the path that some server may read as an endpoint path; `.whole` also if a spelling
  /// has too many readings, or if a reading begins with the gateway's own path. A well-known path of an endpoint below
  /// any folder is that of another issuer (OpenID Connect Discovery, section 4), and counts like a beginning.
  private func endpointPart(of path: [UInt8], _ texts: [[UInt8]]) -> EndpointPart {
    var part = EndpointPart.none
    // For each endpoint, whether a prefix of `upstream.pass` permits the path; `nil` if that was not needed yet.
    var permissions = [Bool?](repeating: nil, count: entries.count)
    for text in texts {
      let spelling = CanonicalPath(text: text)
      guard let readings = spelling.readings else { return .whole }
      // The folder may also be one of the application, so an entry of `upstream.not_endpoints` can permit the path.
      if part == .none, let reading = spelling.readingBelowFolder, entries.contains(where: { $0.mayServe(reading) }) {
        part = .beginning
      }
      for reading in readings {
        if reading.begins(with: ownPath.name) { return .whole }
        if part == .none, reading.hasWellKnownPathBelowFolder(wellKnownNames) { part = .beginning }
        for index in entries.indices {
          let mayBeServed = entries[index].mayServe(reading)
          guard mayBeServed || reading.begins(like: entries[index].canonicalPathWithSuffix) else { continue }
          let isPermitted =
            permissions[index] ?? isUnderPassPrefix(path, texts, below: entries[index].canonicalPath)
          permissions[index] = isPermitted
          if isPermitted { continue }
          if mayBeServed, entries[index].isWhole(reading) { return .whole }
          part = .beginning
        }
      }
    }
    return part
  }

  /// True if the end of the path, read as a query, may lead to an endpoint. Some rewriting rules insert the path into a
  /// query, so that `&` in the path begins a parameter. Some servers treat a decoded question mark like a literal one.
  private func containsRoutingQuery(_ texts: [[UInt8]], _ budget: inout PathVariants.Budget) -> Bool {
    let root = place(of: [UInt8(ascii: "/")], [[]])
    var known: Set<ArraySlice<UInt8>> = []
    for text in texts {
      guard let mark = text.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "&") }) else { continue }
      let query = text[(mark + 1)...]
      guard known.insert(query).inserted else { continue }
      if queryReader.quickCheck(query.span).mayContainRoute, leadsToEndpoint(query.span, at: root, &budget) {
        return true
      }
    }
    return false
  }

  /// True if a program that serves the path may read an endpoint path from the query.
  private func leadsToEndpoint(
    _ query: Span<UInt8>, at place: FrontControllerQuery.Place, _ budget: inout PathVariants.Budget
  ) -> Bool {
    queryReader.canRoute([UInt8](copying: query), at: place, to: endpointPaths, within: &budget)
  }

  /// True if a program that serves `path`, which is exactly an endpoint path, may read an endpoint path from the query.
  /// No other spelling of `path` is considered.
  private func leadsToEndpoint(_ query: Span<UInt8>, at path: Span<UInt8>) -> Bool {
    var budget = PathVariants.Budget()
    let bytes = [UInt8](copying: path)
    return leadsToEndpoint(query, at: place(of: bytes, [bytes]), &budget)
  }

  /// Returns the facts about a path that decide which routes a program may read from the query.
  ///
  /// - Parameters:
  ///   - texts: The spellings of `path`.
  ///   - mayBeRewritten: False for the path of an endpoint, for which the gateway reads the parameters itself.
  private func place(
    of path: [UInt8], _ texts: [[UInt8]], mayBeRewritten: Bool = false
  ) -> FrontControllerQuery.Place {
    let isFolder = path.last == UInt8(ascii: "/")
    var place = FrontControllerQuery.Place(
      runsProgram: isFolder, isFrontController: false, isFolder: isFolder, mayBeRewritten: mayBeRewritten,
      prefixLengths: Array(repeating: [], count: endpointPaths.count))
    for text in texts {
      let spelling = CanonicalPath(text: text)
      if spelling.runsProgram { place.runsProgram = true }
      if spelling.isFrontController { place.isFrontController = true }
      for index in endpointPaths.indices {
        for count in endpointPaths[index].names.indices where !place.prefixLengths[index].contains(count) {
          if spelling.begins(with: endpointPaths[index], count: count) { place.prefixLengths[index].append(count) }
        }
      }
    }
    if !place.prefixLengths.contains(where: { $0.contains { $0 > 0 } }) { place.mayBeRewritten = false }
    return place
  }

  /// True if the path has more than 64 slashes, backslashes and bars, or if it is longer than 4 KiB and has escapes or
  /// characters beyond ASCII. The time to find all readings of a path grows with the number of slashes and with the
  /// length, and no legitimate path reaches these limits.
  static func isTooComplex(_ path: Span<UInt8>) -> Bool {
    var slashes = 0
    var isEscaped = false
    for index in path.indices {
      let byte = path[index]
      if PathVariants.isSlash(byte) { slashes += 1 }
      if byte == UInt8(ascii: "%") || byte >= 0x80 { isEscaped = true }
    }
    return slashes > PathVariants.maximumSlashes || (isEscaped && path.count > 4_096)
  }

  /// True if each spelling of the path is under a prefix of `upstream.pass` that is itself below the endpoint path.
  /// With such a prefix, the operator permits paths below the endpoint.
  private func isUnderPassPrefix(_ path: [UInt8], _ texts: [[UInt8]], below endpoint: EndpointPath) -> Bool {
    let below = passPrefixes.filter { prefix in
      prefix.spelling.segments.count > endpoint.names.count
        && PathReading(prefix.spelling, keeping: 0, from: 0).mayBeServed(by: endpoint)
        && EndpointMatcher.lies(path, under: prefix.text)
    }
    return !below.isEmpty && EndpointMatcher.lie(texts, under: below)
  }

  /// True if each of the texts is under one of the prefixes.
  private static func lie(_ texts: [[UInt8]], under prefixes: [(text: [UInt8], spelling: CanonicalPath)]) -> Bool {
    texts.allSatisfy { text in
      let spelling = CanonicalPath(text: text)
      return prefixes.contains { spelling.lies(under: $0.spelling) }
    }
  }

  /// Returns false only if no part of the query is the rest of an endpoint path with whose first segments the path begins.
  ///
  /// - Parameter found: The letters of the path.
  @inline(never)
  private func mayBeCompleted(_ path: Span<UInt8>, _ found: UInt64, by query: Span<UInt8>) -> Bool {
    for index in firstLetters.indices where firstLetters[index].isPart(of: found) {
      if firstLetters[index].isInOrder(in: path) { return containsLastSegment(query) }
    }
    return false
  }

  /// Returns false only if no value of the query contains the last segment of an endpoint path.
  private func containsLastSegment(_ query: Span<UInt8>) -> Bool {
    let found = LetterPrefilter.set(of: query)
    if found & LetterPrefilter.disguiseBit != 0 { return true }
    return endpointPaths.contains {
      $0.names.count > 1 && $0.lastLetters.isPart(of: found) && $0.lastLetters.isInOrder(in: query)
    }
  }

  /// Returns false only if no reading of the path is an endpoint path.
  ///
  /// - Parameter found: The letters of the path.
  private func couldBeAnEndpoint(_ path: Span<UInt8>, _ found: UInt64) -> Bool {
    // Escapes, characters beyond ASCII and the short file names of Windows can hide letters.
    if found & LetterPrefilter.disguiseBit != 0 { return true }
    if ownPath.letters.isPart(of: found), ownPath.letters.isInOrder(in: path) { return true }
    for index in entries.indices where entries[index].letters.isPart(of: found) {
      if entries[index].letters.isInOrder(in: path) { return true }
    }
    return false
  }

  /// True if each spelling of the path is under a prefix of `upstream.pass`, or if every path is forwarded.
  private func isUnderPassPrefix(_ path: [UInt8], _ texts: [[UInt8]]) -> Bool {
    guard !passesEveryPath else { return true }
    return passPrefixes.contains { EndpointMatcher.lies(path, under: $0.text) }
      && EndpointMatcher.lie(texts, under: passPrefixes)
  }

  /// True if the path is under the prefix. `/app` and `/app/x` are under `/app`, but `/apple` is not.
  private static func lies(_ path: [UInt8], under prefix: [UInt8]) -> Bool {
    guard path.starts(with: prefix) else { return false }
    return path.count == prefix.count || prefix.last == UInt8(ascii: "/") || path[prefix.count] == UInt8(ascii: "/")
  }
}
