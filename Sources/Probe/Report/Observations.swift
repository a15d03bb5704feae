import Gateway

/// The facts that a probe has found. A value is `nil` if it was not tested or could not be decided.
package struct Observations: Sendable {
  /// An endpoint, and how it was found.
  package struct Endpoint: Equatable, Sendable {
    package enum Source: String, Sendable {
      case document, option, search
    }
    package var path: String
    package var source: Source
    /// True if the server answered a request there as such an endpoint does.
    package var isConfirmed: Bool
  }

  /// The order of the login and the checks of an authorization request.
  package enum Validation: String, Sendable {
    case beforeLogin = "before_login"
    case afterLogin = "after_login"
  }

  /// The effect of an additional parameter.
  package enum Effect: Equatable, Sendable {
    /// The request is answered like one without the parameter.
    case ignored
    /// The same kind of answer, with another status or with other parameters in its `Location`.
    case changed
    case refused(Reaction)
  }

  /// The longest value that the server accepts, in bytes.
  package enum Limit: Equatable, Sendable {
    case atLeast(Int)
    case exactly(Int)
  }

  /// The redirect URIs that differ from the registered one.
  package enum RedirectKind: String, Sendable, CaseIterable {
    case otherPath = "other_path"
    case otherQuery = "other_query"
    case otherHost = "other_host"
    case loopback
    case loopbackOtherPort = "loopback_other_port"
    case privateUse = "private_use"
  }

  /// The result of a method of client authentication.
  package enum Authentication: String, Sendable {
    case accepted, refused
    /// The server answers right and wrong secrets alike.
    case unclear
  }

  /// PKCE at the token endpoint.
  package enum Verifier: String, Sendable {
    /// The code was redeemed with a wrong verifier.
    case ignored
    /// A wrong verifier was refused, and the right one accepted.
    case enforced
    /// The wrong verifier was refused, and the code was used up by that.
    case probablyEnforced = "probably_enforced"
  }

  /// The second use of a code or refresh token.
  package enum Reuse: String, Sendable {
    case refused, accepted
  }

  /// The network from which the server can be reached, by its address.
  package enum Network: String, Sendable {
    case loopback
    case `private`
    case `public`
  }

  // MARK: Metadata and endpoints
  package var documents: [String] = []
  package var issuer: UpstreamIssuer = .noDocument
  /// The methods of `code_challenge_methods_supported`; `nil` if the document does not have the member.
  package var announcedMethods: [String]?
  /// The host in the URLs of the document, if it is not that of the probe.
  package var documentHost: String?
  package var authorization: Endpoint?
  package var token: Endpoint?
  package var revocation: Endpoint?
  package var introspection: Endpoint?
  package var deviceAuthorization: Endpoint?
  package var pushedAuthorization: Endpoint?
  package var registration: Endpoint?

  /// The hosts in `Host` with which the server answers; `nil` if it was not tried.
  package var host: Hosts?

  // MARK: Authorization
  /// The reaction to a client that the server cannot know.
  package var unknownClient: Reaction?
  /// The reaction to the client of the command line with its redirect URI.
  package var knownClient: Reaction?
  package var validation: Validation?
  package var unsupportedResponseType: Reaction?
  package var unknownParameter: Effect?
  package var challenge: Effect?
  /// True if the server refuses a challenge method that does not exist, so that it understands PKCE.
  package var checksMethod: Bool?
  package var acceptsPOST: Bool?
  package var stateLimit: Limit?
  package var urlLimit: Limit?
  package var redirects: [RedirectKind: Reaction] = [:]

  // MARK: Token
  package var tokenError: TokenReaction?
  package var tokenGET: TokenReaction?
  package var basic: Authentication?
  /// HTTP Basic without form encoding; `nil` if it was not tried.
  package var basicRaw: Authentication?
  package var post: Authentication?
  /// True if the client needs no secret.
  package var worksWithoutSecret: Bool?
  package var badCode: TokenReaction?
  package var verifierParameter: Bool?
  package var tokenUnknownParameter: Bool?

  // MARK: Sign-in
  package var signIn: SignInObservations?

  // MARK: Way around the gateway
  package var network: Network?
  package var gatewayAnswers: Bool?
  /// True if the name of the gateway was tried with the port of the server.
  package var triedWayAround = false
  /// The URL at which the server answers next to the gateway.
  package var wayAround: String?

  package init() {}

  /// The pages of the server to which the probe was redirected.
  var pagePaths: [String] {
    var paths: [String] = []
    for reaction in [knownClient, unknownClient].compactMap(\.self) {
      switch reaction {
      case .login(let path), .errorRedirect(let path):
        if path != authorization?.path, !paths.contains(path) { paths.append(path) }
      case .otherSite, .page, .errorPage, .errorToApp, .answerToApp, .moved, .json, .failure: continue
      }
    }
    return paths
  }
}

extension Observations {
  /// The hosts in `Host` with which a server answers.
  package enum Hosts: Sendable {
    /// That of its URL and the public one, with the same result.
    case both
    case publicOnly
    case upstreamOnly
  }

  /// True if a sign-in works with PKCE parameters, as far as the probe has seen: the server answers an authorization
  /// request with a challenge like one without, or issued a code for one, and the token endpoint does not refuse a verifier.
  package var acceptsChallenge: Bool {
    guard verifierParameter != false else { return false }
    if let challenge { return challenge == .ignored }
    return signIn.map { $0.hadExtras && $0.codeLength != nil } ?? false
  }
}
