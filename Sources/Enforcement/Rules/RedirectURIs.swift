internal import ByteText
public import OAuth
public import Policy

// Rules on the redirect URI, at the authorization endpoint and when a code is redeemed.

/// The redirect URI of an authorization request, or the reason why it is refused.
enum RedirectResolution: Sendable {
  /// The URI is registered. `wasSent` is true if the request contained it.
  case verified(RedirectURI, wasSent: Bool)
  case refused(Rejection, Detail?)

  init(_ parameter: FormParameters.ParameterValue, client: Client?) {
    guard let client else {
      self = .refused(.clientUnknown, nil)
      return
    }
    switch parameter {
    case .repeated: self = .refused(.redirectURIRepeated, nil)
    case .malformed: self = .refused(.redirectURIMalformed, nil)
    case .absent:
      // RFC 6749, section 3.1.2.3: if the request omits the URI, the client's only registered URI is used.
      guard let only = RedirectURI.defaultURI(registered: client.redirectURIs) else {
        self = .refused(.redirectURIMissing, nil)
        return
      }
      self = .verified(only, wasSent: false)
    case .value(let text):
      self = RedirectResolution.resolve(text, client: client)
    }
  }

  private static func resolve(_ text: String, client: Client) -> RedirectResolution {
    let requested: RedirectURI
    do {
      if let registered = client.registeredURI(equalTo: text) {
        requested = registered
      } else {
        requested = try RedirectURI(parsing: text)
      }
    } catch {
      return .refused(.redirectURISyntax, .redirectURI(error))
    }
    guard client.hasRegistered(requested) else {
      return .refused(.redirectURIMismatch, mismatchDetail(of: requested, among: client.redirectURIs))
    }
    if case .localhost = requested.kind, client.localhost == .reject { return .refused(.redirectURILocalhost, nil) }
    return .verified(requested, wasSent: true)
  }

  /// Returns the detail of a mismatch: `localhost` if the requested URI uses this name and no registered URI does.
  /// Otherwise the detail names the registered URI that is most similar to the requested one, and the offset at which
  /// the two differ. The error page never shows this offset, only the decision log does. Returns `nil` if no registered
  /// URI can be compared with the requested one.
  private static func mismatchDetail(of requested: RedirectURI, among registered: [RedirectURI]) -> Detail? {
    if case .localhost = requested.kind, !registered.contains(where: \.isLocalhost) { return .localhost }
    var best: (index: Int, offset: Int)?
    for (index, uri) in registered.enumerated() {
      guard let offset = requested.difference(from: uri) else { continue }
      if offset > best?.offset ?? -1 { best = (index, offset) }
    }
    return best.map { .differingByte(registeredIndex: $0.index, offset: $0.offset) }
  }

  var verified: RedirectURI? {
    guard case .verified(let uri, _) = self else { return nil }
    return uri
  }

  var wasSent: Bool {
    guard case .verified(_, let wasSent) = self else { return false }
    return wasSent
  }
}

extension Client {
  /// The permitted differences between a requested and a registered redirect URI. For a native app, the port of a
  /// loopback literal may differ (RFC 8252, section 7.3), and, if the policy permits it, the port of `localhost`
  /// (section 8.3).
  var allowedVariance: RedirectURI.AllowedVariance {
    guard self.application == .native else { return [] }
    return switch self.localhost {
    case .reject, .exact: .loopbackPort
    case .portless: [.loopbackPort, .omittedLocalhostPort]
    case .anyPort: [.loopbackPort, .localhostPort]
    }
  }

  /// Returns the registered redirect URI with the same bytes as `text`; `nil` if there is none. It is the value that
  /// parsing `text` returns, and most requests have such a URI.
  public func registeredURI(equalTo text: String) -> RedirectURI? {
    self.redirectURIs.first { $0.text.utf8.span.isEqual(to: text.utf8.span) }
  }

  /// True if the URI matches a registered one, except for the permitted differences.
  func hasRegistered(_ uri: RedirectURI) -> Bool {
    self.redirectURIs.contains { uri.matches(registered: $0, variance: allowedVariance) }
  }

  /// Returns true if the operator vouches for the client, and the client is confidential or the redirect URI is https.
  /// A confidential client proves its identity when it authenticates at the token endpoint. Only the owner of an https
  /// redirect URI gets a response that is sent to this URI.
  public func identityIsProven(by redirectURI: RedirectURI?) -> Bool {
    guard self.registration == .trusted else { return false }
    if self.kind == .confidential { return true }
    guard case .https = redirectURI?.kind else { return false }
    return true
  }
}

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, sections 3.1 and 4.1.2.1. If there are several URIs, none can be trusted. A request without a URI passes
  /// this rule.
  static var redirectURIOnce: Rule {
    Rule(name: "redirect_uri occurs once", source: "RFC 6749, sections 3.1 and 4.1.2.1") { context in
      switch context.parameters.lookUp(.redirectURI) {
      case .repeated: .refuse(.redirectURIRepeated)
      case .malformed: .refuse(.redirectURIMalformed)
      case .value, .absent: .pass
      }
    }
  }

  /// RFC 8252, sections 7.3, 8.3 and 8.4. The URI must equal a registered one. For a native app, the port of a loopback
  /// literal may differ, and also the port of `localhost` if the policy permits it.
  static var redirectURIVerified: Rule {
    Rule(name: "the redirect URI is registered", source: "RFC 8252, sections 7.3, 8.3 and 8.4") { context in
      guard context.client != nil else { return .pass }
      switch context.redirect {
      case .refused(let rejection, let detail): return .refuse(rejection, detail)
      case .verified(let uri, _):
        guard case .localhost = uri.kind else { return .pass }
        return .note(.localhostRedirect)
      }
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// RFC 6749, section 4.1.3. The URI must equal the one to which the code was sent, including a loopback port. A token
  /// request may omit it if the authorization request omitted it or, under the OAuth 2.1 profile, if the code has a
  /// challenge (OAuth 2.1 draft, section 10.2).
  static var redirectURIMatchesAuthorizationRequest: Rule {
    Rule(name: "redirect_uri equals that of the authorization request", source: "RFC 6749, section 4.1.3") { context in
      switch context.request.redirectURI {
      case .some(let text) where text.utf8.span.isEqual(to: context.code.redirectURI.text.utf8.span): .pass
      case .none where !context.code.redirectURIWasSent: .pass
      case .none where context.request.client.profile == .oauth21 && context.code.challenge != nil: .pass
      case .some, .none: .refuse(.codeRedirectURIMismatch)
      }
    }
  }
}
