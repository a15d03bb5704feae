/// An authorization response to be sent to a redirect URI (RFC 6749, section 4.1.2; Form Post Response Mode).
public struct AuthorizationResponse: Sendable, Equatable {
  /// The redirect URI of the client that receives the response.
  public let redirectURI: RedirectURI
  /// The mode in which the response is sent.
  public let mode: ResponseMode
  /// The decoded parameters, in the order in which they are sent. `iss` (RFC 9207) occurs exactly once.
  public let parameters: [FormParameters.Entry]
  /// True if the gateway ends the redirect with the fragment `#_`. Without a fragment in the redirect, a browser would
  /// attach the fragment of an earlier address (RFC 9700, section 4.1.3; RFC 9110, section 10.2.2). Always false for a
  /// redirect URI that is not https, because apps with such URIs may compare the whole address. Always false outside
  /// `query` mode: in `fragment` mode the redirect already has a fragment, and in `form_post` mode there is no
  /// redirect.
  public let endsInFragment: Bool

  /// Creates a response. Any `iss` and `state` in `parameters` are ignored.
  ///
  /// - Parameters:
  ///   - redirectURI: The redirect URI of the client.
  ///   - mode: The response mode.
  ///   - issuer: The issuer identifier, sent as `iss` (RFC 9207).
  ///   - state: The state of the client, decoded; `nil` if the client sent none.
  ///   - parameters: The other parameters, decoded.
  ///   - appendsFragment: True to end a redirect to an https URI in query mode with a fragment.
  public init(
    redirectURI: RedirectURI, mode: ResponseMode, issuer: String, state: String?, parameters: [FormParameters.Entry],
    appendsFragment: Bool = false
  ) {
    if case .https = redirectURI.kind {
      endsInFragment = appendsFragment && mode == .query
    } else {
      endsInFragment = false
    }
    self.redirectURI = redirectURI
    self.mode = mode
    var entries = parameters.filter { $0.parameter != .issuer && $0.parameter != .state }
    if let state { entries.append(FormParameters.Entry(.state, state)) }
    entries.append(FormParameters.Entry(.issuer, issuer))
    self.parameters = entries
  }

  /// The value of `Location`. `nil` in `form_post` mode, in which a page posts ``parameters`` to the redirect URI.
  ///
  /// The query of the redirect URI is kept (RFC 6749, section 3.1.2).
  public var location: String? {
    switch mode {
    case .formPost: return nil
    case .fragment: return FormEncoding.serialise(parameters, to: redirectURI.text, "#")
    case .query:
      return FormEncoding.serialise(
        parameters, to: redirectURI.text, querySeparator, suffix: endsInFragment ? "#_" : "")
    }
  }

  /// The text between the redirect URI and the parameters.
  private var querySeparator: String {
    guard let query = redirectURI.query else { return "?" }
    return query.isEmpty || query.hasSuffix("&") ? "" : "&"
  }
}

/// The way in which an authorization response reaches the client (OAuth 2.0 Multiple Response Types, section 2.1; OAuth
/// 2.0 Form Post Response Mode).
public enum ResponseMode: String, Sendable, CaseIterable {
  case query
  case fragment
  case formPost = "form_post"

  /// True if a response in this mode can reach the redirect URI. A `form_post` response can only reach an https or http
  /// URI, because operating systems drop the body of a POST to an app.
  public func canReach(_ redirectURI: RedirectURI) -> Bool {
    switch (self, redirectURI.kind) {
    case (.query, _), (.fragment, _): true
    case (.formPost, .https), (.formPost, .loopback), (.formPost, .localhost): true
    case (.formPost, .privateUse), (.formPost, .windowsBroker): false
    }
  }
}
