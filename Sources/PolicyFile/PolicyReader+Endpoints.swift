internal import ByteText
import OAuth
import Policy
import YAML

extension EndpointPaths: SectionDraft {
  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  static let section = Section<EndpointPaths>(
    table,
    [
      "registration": { $2.closed += $0.paths($1) }
    ])
}

extension PolicyReader {
  /// Reads `endpoints:` and reports a path that is listed for two kinds of endpoint.
  ///
  /// - Parameter preset: The paths of the endpoints that the mapping does not list.
  func endpoints(_ field: Field, _ preset: EndpointPaths) -> EndpointPaths {
    var endpoints = preset
    endpointsLocation = SourceLocation(field.key)
    guard let fields = read(field.node, EndpointPaths.section, into: &endpoints) else { return endpoints }
    var owners: [String: String] = [:]
    for setting in EndpointPaths.table.settings where fields[setting.key] == nil {
      guard case .texts(let paths) = setting.value(in: preset) else { continue }
      for path in paths { owners[path] = setting.key }
    }
    for field in fields.all {
      for path in field.texts {
        guard let owner = owners.updateValue(field.name, forKey: path), owner != field.name else { continue }
        let isQueryChoice = Set([owner, field.name]) == ["authorization", "token"]
        error(
          .duplicateValue, field.node,
          "path \(quoted(path)) is both `\(owner)` and `\(field.name)`; a path is one endpoint"
            + (isQueryChoice ? ", so give a server that chooses the endpoint by the query a path for each" : ""))
      }
    }
    if preset.authorization.isEmpty, fields["authorization"] == nil {
      reportMissing("authorization", field.key, in: "`endpoints`", "its path, such as `/authorize`")
    }
    if preset.token.isEmpty, fields["token"] == nil {
      reportMissing("token", field.key, in: "`endpoints`", "its path, such as `/token`")
    }
    return endpoints
  }

  /// Reports a policy without a revocation endpoint if a client may use refresh tokens. Without this endpoint, the
  /// gateway cannot revoke the upstream's tokens after the reuse of a refresh token or the replay of a code. It can
  /// only refuse its own sealed tokens.
  func lintRevocation() {
    guard let upstream, upstream.endpoints.revocation.isEmpty, let endpointsLocation,
      clients.entries.contains(where: { $0.client?.grants.contains(.refreshToken) ?? false })
    else { return }
    report(
      .revocationMissing, .note, endpointsLocation,
      "`endpoints` has no `revocation`, so the server's tokens outlive a replayed code or a reused refresh token; add "
        + "its path if the server has one")
  }

  /// Reports an endpoint of the server at a path where the gateway itself serves device clients.
  func lintDevicePaths() {
    guard let upstream, let endpointsLocation,
      clients.entries.contains(where: { $0.client?.grants.contains(.deviceCode) ?? false })
    else { return }
    let endpoints = upstream.endpoints
    // The server runs the flows.
    guard endpoints.deviceAuthorization.isEmpty else { return }
    let paths =
      endpoints.authorization + endpoints.token + endpoints.revocation + endpoints.introspection
      + endpoints.pushedAuthorization
    for path in [GatewaySettings.devicePath, GatewaySettings.deviceAuthorizationPath] where paths.contains(path) {
      report(
        .conflict, .error, endpointsLocation,
        "the server has an endpoint at `\(path)`, where the gateway serves device clients; let the server use another "
          + "path")
    }
  }

  /// Reads a path or a list of paths. The permitted syntax excludes escapes, `;`, dot segments and empty segments,
  /// because servers interpret them in different ways.
  func paths(_ field: Field) -> [String] {
    var paths: [String] = []
    var known: Set<String> = []
    for item in list(field, allowsSingleValue: true) {
      guard let path = text(item) else { continue }
      if path.contains("?"), EndpointPaths.table.settings.contains(where: { $0.key == field.name }) {
        error(
          .invalidValue, item.node,
          "`\(field.name)` cannot be \(quoted(path)): the gateway knows endpoints by their path alone; give each endpoint of "
            + "the server a path of its own, for example by a rewrite rule in front of the server")
      } else if let problem = Self.pathProblem(path) {
        error(.invalidValue, item.node, "`\(field.name)` cannot be \(quoted(path)); \(problem)")
      } else if !["not_endpoints", "completion_paths"].contains(field.name), path.utf8.contains(UInt8(ascii: "*")) {
        error(
          .invalidValue, item.node,
          "\(quoted(path)) in `\(field.name)` has a `*`, which would match only itself; list each path"
            + (field.name == "pass" ? ", or the folder, which includes all below it" : ""))
      } else if !known.insert(path).inserted {
        error(.duplicateValue, item.node, "\(quoted(path)) occurs twice in `\(field.name)`; keep one")
      } else {
        paths.append(path)
      }
    }
    return paths
  }

  /// Reports entries of `not_endpoints` that are a variant of an endpoint path, because requests to the endpoint could
  /// bypass the checks. Also reports entries without effect: those that neither resemble an endpoint path nor are a
  /// metadata path.
  func checkNotEndpoints(_ field: Field, _ upstream: UpstreamSettings) {
    let endpoints = upstream.endpoints
    let all =
      endpoints.authorization + endpoints.token + endpoints.revocation + endpoints.introspection
      + endpoints.pushedAuthorization + endpoints.deviceAuthorization + endpoints.closed
    // Each list may have thousands of entries, so a path is not compared with all of them.
    let accepted = Set(upstream.notEndpoints)
    let metadataPaths = Set(endpoints.metadataPaths)
    let foldedEndpoints = Dictionary(all.map { (Self.folded($0), $0) }, uniquingKeysWith: { first, _ in first })
    let names = Set((all + [GatewaySettings.devicePath]).map { String(Self.name(of: $0)) })
    for node in field.items {
      guard let path = node.text, accepted.contains(path) else { continue }
      if let endpoint = foldedEndpoints[Self.folded(path)] {
        error(
          .conflict, node,
          "\(quoted(path)) in `not_endpoints` is a variant of the endpoint \(quoted(endpoint)); remove it")
      } else if !metadataPaths.contains(path), !Self.contains(anyOf: names, in: path.lowercased()) {
        warn(
          .notEndpointUnneeded, node,
          "\(quoted(path)) in `not_endpoints` resembles no endpoint, so it passes anyway; remove it")
      }
    }
  }

  /// Returns the path as lenient servers compare it: in lower case, without empty segments and a trailing slash, and
  /// without a file suffix.
  private static func folded(_ path: String) -> Substring {
    var segments = path.lowercased().split(separator: "/")
    if let last = segments.popLast() { segments.append(last.split(separator: ".").first ?? last) }
    return Substring(segments.joined(separator: "/"))
  }

  private static func contains(anyOf names: Set<String>, in path: String) -> Bool {
    let bytes = path.utf8.span
    return names.contains { bytes.contains($0) }
  }

  /// Returns the last segment of an endpoint's path, in lower case and without a file suffix.
  private static func name(of endpoint: String) -> Substring {
    let folded = folded(endpoint)
    return folded.lastIndex(of: "/").map { folded[folded.index(after: $0)...] } ?? folded
  }

  /// Returns the problem of a path with its solution; `nil` if there is no problem.
  static func pathProblem(_ path: String) -> String? {
    if path.contains("://") { return "use the path alone, the server is in `url`" }
    if !path.hasPrefix("/") { return "a path begins with `/`" }
    if path.contains("?") || path.contains("#") { return "use the path alone, without query or fragment" }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    if segments.dropFirst().dropLast().contains("") || path == "//" { return "write one slash, not two" }
    if segments.contains(".") || segments.contains("..") { return "write the path without dot segments" }
    if segments.count > 1, segments[1] == ".proofgate" { return "paths below `/.proofgate` are the gateway's own" }
    let isPlain = path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/-._~!$&'()*+,=:@".utf8.contains(byte)
      }
    }
    return isPlain ? nil : "use letters, digits and `-._~/`, nothing percent-encoded and no `;`"
  }
}
