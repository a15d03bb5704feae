extension EndpointPaths {
  /// The paths of the server's metadata documents (OpenID Connect Discovery, section 4; RFC 8414, section 3).
  ///
  /// The issuer may have any path above the authorization or the token endpoint. Discovery appends the well-known part
  /// to the issuer, and RFC 8414 inserts it in front of the issuer's path; servers do both with both names.
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

  /// The paths of all folders above the authorization or the token endpoint, without a trailing slash; "" is the root.
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
