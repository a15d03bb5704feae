internal import ByteText

extension EndpointPaths {
  private static let openIDName = "/.well-known/openid-configuration"
  private static let oauthName = "/.well-known/oauth-authorization-server"
  private static let resourceName = "/.well-known/oauth-protected-resource"

  /// The paths at which the server may have metadata documents: those that the policy names and, because the path of
  /// the server's issuer is not known, the well-known paths for each folder above an authorization or token endpoint.
  public var metadataPaths: [String] {
    var paths = metadata
    for issuer in issuerPaths {
      for path in EndpointPaths.wellKnownPaths(ofIssuerPath: issuer) where !paths.contains(path) { paths.append(path) }
    }
    return paths
  }

  /// The maximum number of requests with which the gateway searches for the server's metadata document.
  private static let maximumCandidates = 16

  /// The paths at which the gateway reads the server's metadata document, in the order in which it tries them. If the
  /// policy names none: at most 16 of ``metadataPaths``, first the documents of OpenID Connect, which say more.
  public var metadataCandidates: [String] {
    guard metadata.isEmpty else { return metadata }
    let issuers = issuerPaths
    let paths =
      issuers.map { $0 + EndpointPaths.openIDName } + issuers.map { EndpointPaths.oauthName + $0 }
      + issuers.dropFirst().map { EndpointPaths.openIDName + $0 }
      + issuers.dropFirst().map { $0 + EndpointPaths.oauthName }
    return Array(paths.prefix(EndpointPaths.maximumCandidates))
  }

  /// Returns the well-known paths of an issuer. OpenID Connect Discovery (section 4) appends its well-known path to the
  /// path of the issuer. RFC 8414 (section 3.1) inserts its well-known path in front of the path of the issuer. Some
  /// servers and clients do the reverse, so the result has each well-known path in both places.
  static func wellKnownPaths(ofIssuerPath issuer: String) -> [String] {
    [openIDName, oauthName].flatMap { name in issuer.isEmpty ? [name] : [issuer + name, name + issuer] }
  }

  /// Returns true if the path contains a well-known path of metadata, and has plain segments in front of it or behind it.
  /// It is the path of an issuer or resource that this gateway does not serve.
  public static func isBesideWellKnownPath(_ path: Span<UInt8>) -> Bool {
    let isNamed = [oauthName, openIDName, resourceName].contains { name in
      path.contains(name + "/") || path.extracting(last: name.utf8.count).isEqual(to: name.utf8.span)
    }
    guard isNamed else { return false }
    let path = [UInt8](copying: path)
    return path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy {
      segment in
      !segment.isEmpty && !segment.elementsEqual(".".utf8) && !segment.elementsEqual("..".utf8)
        && segment.allSatisfy { $0.isLetterOrDigit || "-._~".utf8.contains($0) }
    }
  }

  /// The root and the paths of all folders above an authorization or token endpoint, without a slash at the end. The
  /// root is the empty path.
  private var issuerPaths: [String] {
    var issuers = [""]
    for endpoint in authorization + token {
      var issuer = ""
      for segment in endpoint.split(separator: "/").dropLast() {
        issuer += "/" + segment
        if !issuers.contains(issuer) { issuers.append(issuer) }
      }
    }
    return issuers
  }
}

extension GatewaySettings {
  /// The paths at which the gateway serves its own metadata document.
  ///
  /// For an issuer with a path, these are both well-known paths in front of the path of the issuer, behind it, and at the
  /// root. RFC 8414 (section 3.1) requires the first, OpenID Connect Discovery (section 4) the second, and some clients
  /// try only the third. The root is safe: the gateway serves one issuer and closes the upstream's documents. A client
  /// that searches another issuer refuses the document, because its `issuer` differs (RFC 8414, section 3.3).
  public var metadataPaths: [String] {
    guard metadata != .off else { return [] }
    let path = issuerPath
    let root = EndpointPaths.wellKnownPaths(ofIssuerPath: "")
    return path.isEmpty ? root : EndpointPaths.wellKnownPaths(ofIssuerPath: path) + root
  }

  /// The path of the issuer without slashes at its end (RFC 8414, section 3.1); empty if the issuer has no path.
  private var issuerPath: String {
    guard let scheme = issuer.firstRange(of: "://") else { return "" }
    var path = issuer[scheme.upperBound...].drop { $0 != "/" }
    while path.hasSuffix("/") { path = path.dropLast() }
    return String(path)
  }
}
