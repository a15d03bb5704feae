extension ClientMetadata {
  /// The metadata as far as a deny-list and the permitted redirect URIs depend on them: the name and, of each redirect
  /// URI, the kind with its host or scheme. It fits into the record of a token, however long the redirect URI is.
  public var outline: ClientMetadata {
    var outline = self
    outline.scope = nil
    outline.redirectURIs = redirectURIs.map(\.outline)
    return outline
  }
}

extension RedirectURI {
  /// A redirect URI of the same kind, without port, path and query. The URI itself if there is no shorter one.
  var outline: RedirectURI {
    let text: String? =
      switch kind {
      case .https(let host): "https://\(host)/"
      case .loopback(.ipv4, _): "http://127.0.0.1/"
      case .loopback(.ipv6, _): "http://[::1]/"
      case .localhost: "http://localhost/"
      case .privateUse(let scheme): "\(scheme):/"
      case .windowsBroker: nil
      }
    guard let text, text.utf8.count < self.text.utf8.count, let short = try? RedirectURI(parsing: text) else {
      return self
    }
    switch (kind, short.kind) {
    case (.loopback, .loopback), (.localhost, .localhost): return short
    default: return short.kind == kind ? short : self
    }
  }
}
