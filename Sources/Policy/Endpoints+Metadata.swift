extension EndpointPaths {
  /// The paths at which the server may have metadata documents (OpenID Connect Discovery, section 4; RFC 8414, section
  /// 3).
  ///
  /// The path of the issuer is not known, so it may be any folder above an authorization or token endpoint. OpenID
  /// Connect Discovery appends its well-known path to the path of the issuer. RFC 8414 inserts its well-known path in
  /// front of the path of the issuer. Some servers do the reverse, so the result has each well-known path in both
  /// places.
  public var metadataPaths: [String] {
    let names = ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"]
    var paths: [String] = []
    for issuer in issuerPaths {
      for name in names {
        for path in [issuer + name, name + issuer] where !paths.contains(path) { paths.append(path) }
      }
    }
    return paths
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
