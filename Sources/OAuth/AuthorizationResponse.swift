/// An authorization response on its way to a redirect URI (RFC 6749, section 4.1.2; Form Post Response Mode).
public struct AuthorizationResponse: Sendable, Equatable {
  public let redirectURI: RedirectURI
  public let mode: ResponseMode
  /// Decoded, in the order in which they are sent, `iss` among them exactly once (RFC 9207).
  public let parameters: [FormParameters.Entry]
  /// True if the redirect ends in a fragment of its own, so that no browser attaches one of an earlier address (RFC 9700,
  /// section 4.1.3; RFC 9110, section 10.2.2). On the way to a website only: apps compare addresses as text.
  public let endsInFragment: Bool

  public init(
    redirectURI: RedirectURI, mode: ResponseMode, issuer: String, state: String?, parameters: [FormParameters.Entry],
    guardsFragment: Bool = false
  ) {
    if case .https = redirectURI.kind {
      endsInFragment = guardsFragment && mode == .query
    } else {
      endsInFragment = false
    }
    self.redirectURI = redirectURI
    self.mode = mode
    var all = parameters.filter { $0.parameter != .issuer && $0.parameter != .state }
    if let state { all.append(FormParameters.Entry(.state, state)) }
    all.append(FormParameters.Entry(.issuer, issuer))
    self.parameters = all
  }

  /// The value of `Location`; `nil` in form_post mode, where a page posts ``parameters`` to the redirect URI.
  ///
  /// A query that the redirect URI has is kept (RFC 6749, section 3.1.2).
  public var location: String? {
    let answer = FormEncoding.serialise(parameters)
    switch mode {
    case .formPost: return nil
    case .fragment: return redirectURI.text + "#" + answer
    case .query:
      let end = endsInFragment ? "#_" : ""
      guard let query = redirectURI.query else { return redirectURI.text + "?" + answer + end }
      let joint = query.isEmpty || query.hasSuffix("&") ? "" : "&"
      return redirectURI.text + joint + answer + end
    }
  }
}

extension ResponseMode {
  /// True if an answer in this mode reaches the redirect URI: operating systems drop the body of a post to an app.
  public func reaches(_ redirectURI: RedirectURI) -> Bool {
    switch (self, redirectURI.kind) {
    case (.query, _), (.fragment, _): true
    case (.formPost, .https), (.formPost, .loopback), (.formPost, .localhost): true
    case (.formPost, .privateUse), (.formPost, .broker): false
    }
  }
}
