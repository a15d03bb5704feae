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

extension ClientMetadata {
  /// The maximum number of hosts, schemes and loopback names of a client document. It limits the length of the values
  /// into which the metadata are sealed. The documents of today have at most four.
  public static let maximumRelatedURIs = 16

  /// Returns the metadata of a client document for a sign-in with one of its redirect URIs. The other ones become outlines
  /// among ``relatedURIs``, as far as a deny-list can distinguish them.
  ///
  /// - Parameter host: The host of the document, with which a deny-list is compared in any case.
  public func reduced(to redirectURI: RedirectURI, documentHost host: String) -> ClientMetadata {
    var reduced = self
    reduced.redirectURIs = [redirectURI]
    var known: Set<DeniableName> = [DeniableName(redirectURI), .host(host)]
    reduced.relatedURIs = (redirectURIs + relatedURIs).filter { known.insert(DeniableName($0)).inserted }.map(\.outline)
    return reduced
  }

  /// The number of hosts, schemes and loopback names in all URIs of the metadata.
  public var deniableNameCount: Int { Set((redirectURIs + relatedURIs).map(DeniableName.init)).count }
}

/// The part of a redirect URI with which a deny-list is compared.
private enum DeniableName: Hashable {
  case host(String)
  case loopback
  case scheme(String)
  case windowsBroker

  init(_ uri: RedirectURI) {
    switch uri.kind {
    case .https(let host): self = .host(host)
    case .loopback, .localhost: self = .loopback
    case .privateUse(let scheme): self = .scheme(scheme)
    case .windowsBroker: self = .windowsBroker
    }
  }
}

extension RedirectURI {
  /// Creates the outline of the URL of a client's home page: an https URI with its host in lower case. `nil` if the text is
  /// no URL of the scheme `https` or `http`, or has a host that redirect URIs cannot have.
  public init?(outlineOfHomepage text: String) {
    guard let colon = text.firstIndex(of: ":"), ["https", "http"].contains(text[..<colon].lowercased()) else {
      return nil
    }
    let rest = text[text.index(after: colon)...]
    guard rest.hasPrefix("//") else { return nil }
    let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
    // The parser refuses user information and every character that is not part of a host or port.
    guard let uri = try? RedirectURI(parsing: "https://\(authority.lowercased())/"), case .https(let host) = uri.kind,
      let outline = try? RedirectURI(parsing: "https://\(host)/")
    else { return nil }
    self = outline
  }

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
