import OAuth
import Policy
import YAML

extension RouteSettings: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<RouteSettings>(
    table,
    [
      "prefix": { $2.prefix = $0.routePrefix($1) ?? "" },
      "request_buffer": { $2.requestBuffer = $0.requestBuffer($1) },
      "request_headers": { $2.requestHeaders = $0.headerChanges($1, to: .request) },
      "response_headers": { $2.responseHeaders = $0.headerChanges($1, to: .response) },
    ])
}

extension PolicyReader {
  func readRoutes(_ field: Field) {
    var known: Set<String> = []
    let items = list(field)
    if items.count > RouteSettings.maximumCount {
      error(.invalidValue, field.key, "`routes` has \(items.count) routes; use at most \(RouteSettings.maximumCount)")
    }
    for item in items {
      var route = RouteSettings()
      guard let fields = read(item.node, RouteSettings.section, into: &route) else { continue }
      requireSettings(of: RouteSettings.section, in: fields, item.node, named: "the route")
      guard let prefix = fields["prefix"], !route.prefix.isEmpty else { continue }
      guard known.insert(Self.segments(route.prefix).joined(separator: "/")).inserted else {
        error(
          .duplicateValue, prefix.node,
          "prefix \(quoted(route.prefix)) occurs twice in `routes`; put its settings together")
        continue
      }
      routes.append((route, SourceLocation(prefix.node)))
    }
  }

  fileprivate func routePrefix(_ field: Field) -> String? {
    guard let prefix = text(field) else { return nil }
    guard let problem = Self.pathProblem(prefix) ?? Self.prefixProblem(prefix) else { return prefix }
    error(.invalidValue, field.node, "`prefix` cannot be \(quoted(prefix)); \(problem)")
    return nil
  }

  /// Returns the problem of a path without `pathProblem` as a prefix for `PathPrefixes`; `nil` if there is none.
  static func prefixProblem(_ prefix: String) -> String? {
    if prefix.contains("+") || prefix.contains("(") || prefix.hasSuffix(".") || prefix.contains("./") {
      return "servers read `+`, `(` and a period at the end of a segment in several ways; use a shorter prefix"
    }
    return prefix.hasSuffix("*") ? noPattern : nil
  }

  static let noPattern = "a prefix is no pattern; leave `*` out"

  fileprivate func requestBuffer(_ field: Field) -> Int? {
    let form = SettingForm.word("off", or: .size(1_024...1_048_576))
    switch value(field, form) {
    case .number(let count)?: return count
    case .word?: return 0
    default: return nil
    }
  }

  // MARK: Endpoints

  /// Reports routes whose prefix contains the path of an endpoint, or lies below one, and routes without any request.
  /// The requests of endpoints are the gateway's own: it reads them whole, within `limits`.
  func checkRoutePrefixes() {
    guard let upstream, let gateway else { return }
    let endpoints = endpointPaths(upstream, gateway).map { (path: $0, segments: Self.segments($0, isEndpoint: true)) }
    let passed = upstream.passPrefixes.map { Self.segments($0) }
    for (route, location) in routes {
      let prefix = Self.segments(route.prefix)
      let name = quoted(route.prefix)
      // A program such as `/token.php` may serve an endpoint without its suffix.
      if let endpoint = endpoints.first(where: {
        $0.segments.starts(with: prefix) || $0.segments.starts(with: Self.withoutSuffix(prefix))
      }) {
        report(
          .conflict, .error, location,
          "prefix \(name) contains \(quoted(endpoint.path)), whose requests the gateway handles itself; use a longer "
            + "prefix, or `limits` for all paths")
      } else if let endpoint = endpoints.first(where: { prefix.starts(with: $0.segments) }),
        !isPermitted(prefix, below: endpoint.segments, upstream, passed)
      {
        report(
          .conflict, .error, location,
          "prefix \(name) lies below \(quoted(endpoint.path)), where the gateway lets no request pass; use another prefix"
        )
      } else if !passed.contains(where: { $0.starts(with: prefix) || prefix.starts(with: $0) }) {
        report(
          .conflict, .error, location,
          "no request under prefix \(name) passes, because `pass` of `upstream` does not have it; add it there, or remove "
            + "the route")
      }
    }
  }

  /// True if `pass` or `not_endpoints` lets requests under `prefix` pass, although it lies below an endpoint.
  private func isPermitted(
    _ prefix: [String], below endpoint: [String], _ upstream: UpstreamSettings, _ passed: [[String]]
  ) -> Bool {
    upstream.notEndpoints.contains { Self.segments($0) == prefix }
      || passed.contains { $0.count > endpoint.count && prefix.starts(with: $0) }
  }

  /// The paths of the server and of the gateway whose requests the gateway handles itself, or refuses.
  private func endpointPaths(_ upstream: UpstreamSettings, _ gateway: GatewaySettings) -> [String] {
    let endpoints = upstream.endpoints
    let listed =
      endpoints.authorization + endpoints.token + endpoints.revocation + endpoints.introspection
      + endpoints.pushedAuthorization + endpoints.deviceAuthorization + endpoints.closed
    let servesDevices = clients.entries.contains { $0.client?.grants.contains(.deviceCode) ?? false }
    let own =
      [GatewaySettings.ownPath, "/.well-known/oauth-protected-resource"] + (registration.map { [$0.path] } ?? [])
      + (servesDevices ? [GatewaySettings.deviceAuthorizationPath, GatewaySettings.devicePath] : [])
    return listed + own + endpoints.metadataPaths + gateway.metadataPaths
  }

  /// Returns the segments of a path as lenient servers compare them: in lower case, without empty ones.
  ///
  /// - Parameter isEndpoint: True to remove the suffix of the last segment, such as `.php`.
  private static func segments(_ path: String, isEndpoint: Bool = false) -> [String] {
    let segments = path.lowercased().split(separator: "/").map(String.init)
    return isEndpoint ? withoutSuffix(segments) : segments
  }

  private static func withoutSuffix(_ segments: [String]) -> [String] {
    guard let last = segments.last, let period = last.lastIndex(of: "."), period > last.startIndex else {
      return segments
    }
    return segments.dropLast() + [String(last[..<period])]
  }
}
