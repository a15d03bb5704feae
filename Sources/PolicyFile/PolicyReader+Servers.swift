import Policy
import YAML

/// The settings `url`, `urls` and `affinity` of `upstream`.
extension PolicyReader {
  /// Reports `url` together with `urls`, neither of them, and several servers without `affinity`.
  ///
  /// - Parameter count: The number of valid `urls`; `nil` without `urls`.
  func checkServers(_ fields: Fields, _ count: Int?, _ key: YAMLNode) {
    if fields["url"] == nil, fields["urls"] == nil {
      reportMissing("url", key, in: "`upstream`", "its URL")
    }
    if let url = fields["url"], fields["urls"] != nil {
      error(.conflict, url.key, "`url` and `urls` exclude each other; move the URL into `urls`")
    }
    if let count, count > 1, fields["affinity"] == nil {
      reportMissing(
        "affinity", key, in: "`upstream`",
        "the name of the servers' session cookie, such as `JSESSIONID`; `address`; or `none` if any server can serve any "
          + "request")
    }
  }

  func upstreamServer(_ field: Field) -> UpstreamServer? {
    if let text = field.node.text, text.hasPrefix("unix:") {
      return unixSocketPath(text.dropFirst(5), field, example: "legacy").map { .unixSocket($0) }
    }
    return upstreamOrigin(field).map { .origin($0) }
  }

  func upstreamServers(_ field: Field) -> [UpstreamServer]? {
    var servers: [UpstreamServer] = []
    for item in list(field) {
      guard let server = upstreamServer(item) else { continue }
      if servers.contains(server) {
        error(.duplicateValue, item.node, "`\(server.url)` occurs twice in `urls`; keep one")
      } else if let scheme = scheme(of: server), let other = servers.lazy.compactMap(scheme(of:)).first,
        scheme != other
      {
        error(.conflict, item.node, "`urls` cannot have http and https URLs; use one scheme for all servers")
      } else {
        servers.append(server)
      }
    }
    reportEmpty(field)
    if servers.count > UpstreamSettings.maximumServers {
      error(
        .invalidValue, field.node,
        "`urls` has \(servers.count) URLs; use at most \(UpstreamSettings.maximumServers)")
    }
    return servers.isEmpty ? nil : servers
  }

  /// Reports `urls` that begin with a Unix socket, whose scheme `tls` decides on, and have a URL with the other scheme. All
  /// servers are used with the scheme of the first one.
  func checkSchemes(of servers: [UpstreamServer], _ field: Field, usesTLS: Bool) {
    switch (servers.lazy.compactMap(scheme(of:)).first, usesTLS) {
    case (.https, false):
      error(
        .conflict, field.node,
        "`urls` has an https URL, but its first server is a Unix socket, which is used without TLS; put the https URL first, "
          + "or add `tls: { server_name: NAME }`")
    case (.http, true):
      error(
        .conflict, field.node, "`urls` has an http URL, but `tls` is for all servers; use https, or remove `tls`")
    case (.https, true), (.http, false), (nil, _): break
    }
  }

  /// Returns the scheme of a server; `nil` for a Unix socket, which `tls` decides on.
  private func scheme(of server: UpstreamServer) -> Origin.Scheme? {
    if case .origin(let origin) = server { origin.scheme } else { nil }
  }

  private func upstreamOrigin(_ field: Field) -> Origin? {
    guard let url = url(field) else { return nil }
    guard url.path.isEmpty || url.path == "/" else {
      error(
        .invalidValue, field.node,
        "`url` cannot have a path; use `\(url.origin)` and put the path into `endpoints`")
      return nil
    }
    switch url.origin.scheme {
    case .http where !url.origin.isLoopback:
      warn(
        .plaintextUpstream, field.node,
        "codes and secrets travel to `\(url.origin.host)` in the clear; use https, or run the gateway on the machine "
          + "of the upstream")
    case .http, .https:
      break
    }
    return url.origin
  }

  /// Reads `host`: a word, or a host with a port if needed.
  func upstreamHost(_ field: Field) -> UpstreamHost? {
    guard let text = text(field) else { return nil }
    switch text {
    case "origin": return .origin
    case "upstream": return .upstream
    default: break
    }
    let name = text.lowercased()
    // With either scheme, because an origin does not write the default port of its scheme.
    let isHost = ["http://", "https://"].contains { scheme in
      (try? URLText(parsing: scheme + name)).map { $0.origin.authority == name } ?? false
    }
    guard isHost else {
      error(
        .invalidValue, field.node,
        "`host` cannot be \(quoted(text)); use `origin`, `upstream`, or a host such as `id.example.com` or "
          + "`id.example.com:8443`")
      return nil
    }
    return .name(name)
  }

  func addressAffinity(_ field: Field) -> AddressAffinity? {
    guard let text = text(field) else { return nil }
    switch text {
    case "none": return AddressAffinity.none
    case "address": return .clientAddress
    default: break
    }
    // The characters of a token (RFC 9110, section 5.6.2), which a cookie's name consists of (RFC 6265, section 4.1.1).
    let symbols = "!#$%&'*+-.^_`|~".utf8
    guard text.utf8.count <= 64,
      text.utf8.allSatisfy({ byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          || symbols.contains(byte)
      })
    else {
      error(
        .invalidValue, field.node,
        "`affinity` cannot be \(quoted(text)); use `none`, `address` or the name of a cookie of at most 64 characters")
      return nil
    }
    guard !PolicyReader.wordsForAffinity.contains(text.lowercased()), !text.hasPrefix("__Host-proofgate") else {
      error(
        .invalidValue, field.node,
        "`affinity` cannot be \(quoted(text)), which is hardly the name of a session cookie of the servers; use `none`, "
          + "`address` or that name")
      return nil
    }
    return .cookie(text)
  }

  /// Words that are hardly the name of a cookie. An affinity to a cookie that the servers do not set would have no effect.
  private static let wordsForAffinity: Set<String> = [
    "none", "no", "off", "false", "null", "~", "0", "on", "yes", "true", "1", "address", "client_address", "ip_hash",
    "round_robin", "least_conn",
  ]

  func failureStatuses(_ field: Field) -> [Int] {
    var statuses: [Int] = []
    for item in list(field, allowsSingleValue: true) {
      guard case .number(let status)? = value(item, .number(500...599)) else { continue }
      if statuses.contains(status) {
        error(.duplicateValue, item.node, "`\(status)` occurs twice in `failure_statuses`; keep one")
      } else {
        statuses.append(status)
      }
    }
    return statuses
  }
}
