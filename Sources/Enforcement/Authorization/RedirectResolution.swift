public import OAuth
public import Policy

/// The redirect URI that a request means, or the reason why it may not be used.
enum RedirectResolution: Sendable {
  case verified(RedirectURI, wasSent: Bool)
  case refused(Rejection, Detail?)

  init(_ reading: FormParameters.ParameterValue, client: Client?) {
    guard let client else {
      self = .refused(.clientUnknown, nil)
      return
    }
    switch reading {
    case .repeated: self = .refused(.redirectURIRepeated, nil)
    case .malformed: self = .refused(.redirectURIMalformed, nil)
    case .absent:
      // RFC 6749, section 3.1.2.3.
      guard let only = RedirectURI.onlyUsable(of: client.redirectURIs) else {
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
      requested = try RedirectURI(parsing: text)
    } catch {
      return .refused(.redirectURISyntax, .redirectURI(error))
    }
    guard client.registers(requested) else {
      return .refused(.redirectURIMismatch, nearest(to: requested, among: client.redirectURIs))
    }
    if case .localhost = requested.kind, client.localhost == .reject { return .refused(.redirectURILocalhost, nil) }
    return .verified(requested, wasSent: true)
  }

  private static func nearest(to requested: RedirectURI, among registered: [RedirectURI]) -> Detail? {
    if case .localhost = requested.kind, !registered.contains(where: \.isLocalhost) { return .localhost }
    var best: (index: Int, offset: Int)?
    for (index, uri) in registered.enumerated() {
      guard let offset = requested.difference(from: uri) else { continue }
      if offset > best?.offset ?? -1 { best = (index, offset) }
    }
    return best.map { .differingByte(registered: $0.index, offset: $0.offset) }
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
  /// The permitted differences from registered URIs: the port, for native apps only (RFC 8252, section 7.3), and that
  /// of `localhost` only if the policy permits it (section 8.3).
  var allowedVariance: RedirectURI.AllowedVariance {
    guard self.application == .native else { return [] }
    return self.localhost == .anyPort ? [.loopbackPort, .localhostPort] : .loopbackPort
  }

  /// True if the URI is one of the registered ones.
  func registers(_ uri: RedirectURI) -> Bool {
    self.redirectURIs.contains { uri.matches(registered: $0, variance: allowedVariance) }
  }

  /// True if a secret or a claimed https redirect URI proves the identity of the app.
  public func isProven(at redirectURI: RedirectURI?) -> Bool {
    guard self.registration == .policy else { return false }
    if self.kind == .confidential { return true }
    guard case .https = redirectURI?.kind else { return false }
    return true
  }
}
