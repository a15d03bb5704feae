extension EndpointPaths {
  /// The paths at which the server may have metadata documents (OpenID Connect Discovery, section 4; RFC 8414, section
  /// 3).
  ///
  /// The path of the issuer is not known. It may be each folder above an authorization or token endpoint. Discovery
  /// appends the well-known path to the issuer's path, RFC 8414 puts it in front, and servers do both with both names.
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

  /// The paths of all folders above an authorization or token endpoint, without a slash at the end. An empty path is
  /// the root.
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
