public import OAuth

/// The clients that are refused although they are registered (`deny:`). It is compared with the metadata of the client
/// on every use, so that an entry takes effect with the reload of the policy.
public struct ClientDenyList: Sendable {
  /// The client ids. The short form of an issued id, which the log has, is the same as the id itself.
  public var ids: Set<String> = [] {
    didSet { shortIDs = Set(ids.lazy.map { ClientID($0).shortForm }) }
  }
  private var shortIDs: Set<ClientID> = []
  /// The hosts of https redirect URIs. An entry that begins with a period denies all subdomains.
  public var hosts: [String] = []
  /// The private-use schemes.
  public var schemes: [String] = []
  /// True to deny clients with a redirect URI on a loopback address or `localhost`.
  public var loopback = false
  /// Patterns for names. `*` matches any characters; differences that readers overlook are ignored (`ComparableName`).
  public var names: [String] = []

  /// Creates an empty list.
  public init() {}

  /// Returns true if the client is denied: by its id, its name, any of its redirect URIs, or any other URI in its document.
  public func contains(_ id: ClientID, _ metadata: ClientMetadata) -> Bool {
    if shortIDs.contains(id.shortForm) { return true }
    if let name = metadata.name, names.contains(where: { ClientDenyList.matches(name, pattern: $0) }) { return true }
    return metadata.redirectURIs.contains(where: denies) || metadata.relatedURIs.contains(where: denies)
  }

  private func denies(_ uri: RedirectURI) -> Bool {
    switch uri.kind {
    case .https(let host): HostList.contains(host, in: hosts) || loopback && HostList.isLoopbackName(host)
    case .loopback, .localhost: loopback
    case .privateUse(let scheme): schemes.contains(scheme)
    case .windowsBroker: schemes.contains("msapp")
    }
  }

  /// Returns true if the pattern is not `*`, but matches every name, because nothing else in it is compared.
  public static func matchesEveryName(_ pattern: String) -> Bool {
    pattern != "*" && ComparableName.scalars(of: pattern).allSatisfy { $0 == "*" }
  }

  /// Returns true if the pattern matches the complete name.
  static func matches(_ name: String, pattern: String) -> Bool {
    let name = ComparableName.scalars(of: name)
    let pattern = ComparableName.scalars(of: pattern)
    var (index, position) = (0, 0)
    // The position behind the last `*`, and the index at which the rest of the name begins.
    var retry: (position: Int, index: Int)?
    while index < name.count {
      if position < pattern.count, pattern[position] == "*" {
        position += 1
        retry = (position, index)
      } else if position < pattern.count, pattern[position] == name[index] {
        index += 1
        position += 1
      } else if let last = retry {
        position = last.position
        index = last.index + 1
        retry = (last.position, index)
      } else {
        return false
      }
    }
    return pattern[position...].allSatisfy { $0 == "*" }
  }
}

/// A list of host names. An entry that begins with a period contains all subdomains of the name behind the period.
enum HostList {
  /// Returns true if the list contains the host. Both are compared in lower case and without a final period.
  static func contains(_ host: String, in list: [String]) -> Bool {
    guard !list.isEmpty else { return false }
    let host = canonical(host)
    return list.contains { entry in
      let entry = canonical(entry)
      return entry.hasPrefix(".") ? host.hasSuffix(entry) && host.utf8.count > entry.utf8.count : host == entry
    }
  }

  /// Returns true for `localhost` and the names below it, which are loopback addresses for browsers (RFC 6761, section
  /// 6.3).
  static func isLoopbackName(_ host: String) -> Bool { contains(host, in: ["localhost", ".localhost"]) }

  private static func canonical(_ host: String) -> String {
    var host = host.lowercased()
    if host.hasSuffix(".") { host.removeLast() }
    return host
  }
}
