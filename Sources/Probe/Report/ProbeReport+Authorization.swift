import Policy

extension ProbeReport {
  var authorizationFindings: [Finding] {
    [validation, clientFinding].compactMap(\.self) + errorFindings
      + [unknownParameter, pkce, post, completionPaths, redirects, stateLimit, urlLimit].compactMap(\.self)
  }

  /// The pages that may redirect to the app with a code. Only a sign-in through the gateway shows whether they do.
  private var completionPaths: Finding? {
    let pages = observations.pagePaths
    guard !pages.isEmpty else { return nil }
    return .found(
      .authorization, "completion_paths", "pages that may complete sign-ins", pages.joined(separator: " "),
      pages.map { "`\($0)`" }.joined(separator: ", "), .likely,
      advice: "list those in `completion_paths` that the log of observe mode names (`proofgate readiness`)")
  }

  private var validation: Finding {
    let (id, title) = ("validation", "checks of a request")
    switch observations.validation {
    case .beforeLogin?:
      return .found(.authorization, id, title, "before_login", "before the login")
    case .afterLogin?:
      return .found(
        .authorization, id, title, "after_login",
        "after the login: a request of an unknown client gets the same answer as a valid one", .likely)
    case nil:
      guard observations.unknownClient?.isAccepted == true else {
        return .open(.authorization, id, title, authorizationGap)
      }
      return .found(
        .authorization, id, title, "after_login", "probably after the login: an unknown client gets the login page",
        .likely)
    }
  }

  private var clientFinding: Finding? {
    guard let known = observations.knownClient else { return nil }
    guard known.isAccepted else {
      return .found(
        .authorization, "client", "your client", "refused", known.description,
        advice: "check `--client-id` and `--redirect-uri`, byte for byte", isWarning: true)
    }
    return .found(.authorization, "client", "your client", "accepted", known.description)
  }

  private var errorFindings: [Finding] {
    var findings: [Finding] = []
    if let unknown = observations.unknownClient {
      findings.append(
        .found(.authorization, "unknown_client", "an unknown client gets", Finding.value(unknown), unknown.description))
    }
    if let error = observations.unsupportedResponseType {
      let advice: String? =
        if case .errorToApp(_, let hasState) = error {
          hasState ? nil : "the gateway finds the sign-in by its cookie; if it is missing, the app gets no error"
        } else {
          "apps get no error of the server; the gateway itself tells them about its own refusals"
        }
      findings.append(
        .found(
          .authorization, "errors", "an unknown response type gets", Finding.value(error), error.description,
          advice: advice))
    } else {
      findings.append(.open(.authorization, "errors", "an unknown response type", authorizationGap))
    }
    return findings
  }

  private var unknownParameter: Finding {
    let (id, title) = ("unknown_parameters", "unknown parameters")
    return effect(
      observations.unknownParameter, id, title,
      refusedAdvice: "the gateway sends only those of OAuth and OpenID Connect Core; leave `upstream.parameters` empty")
  }

  private var pkce: Finding {
    let (id, title) = ("pkce_parameters", "PKCE parameters")
    if case .refused(let reaction)? = observations.challenge {
      return .found(
        .authorization, id, title, "refused", "refused: \(reaction.description)",
        advice: "keep `pkce: strip`: the gateway sends no PKCE parameter")
    }
    if observations.challenge == .changed {
      return .found(
        .authorization, id, title, "changed",
        "answered in another way: another status, or other parameters in the redirect", .likely,
        advice: "keep `pkce: strip` unless `--sign-in` shows that the server verifies them")
    }
    if observations.checksMethod == true {
      return .found(
        .authorization, id, title, "understood", "understood: an unknown method is refused", .likely,
        advice: forwardAdvice)
    }
    let announced = observations.announcedMethods.map { $0.contains("S256") ? "S256" : "another method" }
    if let signIn = observations.signIn, signIn.hadExtras, signIn.codeLength != nil {
      return .found(.authorization, id, title, "accepted", "accepted in the sign-in", advice: forwardAdvice)
    }
    guard observations.challenge == .ignored else { return .open(.authorization, id, title, authorizationGap) }
    return .found(
      .authorization, id, title, "accepted",
      "accepted: a request with them is answered like one without"
        + (announced.map { "; the document announces \($0)" } ?? ""),
      advice: forwardAdvice)
  }

  private var forwardAdvice: String {
    guard observations.acceptsChallenge else { return "keep `pkce: strip`: the token endpoint refuses `code_verifier`" }
    return
      "the policy sets `pkce: forward`, so that the gateway binds codes to its own challenge; a server that ignores it "
      + "loses nothing"
  }

  private var post: Finding? {
    observations.acceptsPOST.map {
      .found(
        .authorization, "post", "requests by POST", $0 ? "accepted" : "refused",
        $0 ? "accepted, as by GET" : "answered in another way than by GET")
    }
  }

  private func effect(
    _ effect: Observations.Effect?, _ id: String, _ title: String, refusedAdvice: String
  ) -> Finding {
    switch effect {
    case .ignored?: return .found(.authorization, id, title, "ignored", "ignored")
    case .changed?:
      return .found(
        .authorization, id, title, "changed",
        "answered in another way: another status, or other parameters in the redirect",
        .likely, advice: refusedAdvice)
    case .refused(let reaction)?:
      return .found(
        .authorization, id, title, "refused", "refused: \(reaction.description)", advice: refusedAdvice)
    case nil:
      guard let signIn = observations.signIn, signIn.hadExtras, signIn.codeLength != nil else {
        return .open(.authorization, id, title, authorizationGap)
      }
      return .found(.authorization, id, title, "ignored", "accepted in the sign-in")
    }
  }

  private var redirects: Finding {
    let (id, title) = ("redirect_uris", "redirect URIs")
    let reactions = Array(observations.redirects.values) + [observations.unknownClient].compactMap(\.self)
    let redirected = reactions.contains {
      switch $0 {
      case .errorToApp, .answerToApp: true
      case .login, .otherSite, .page, .errorPage, .errorRedirect, .moved, .json, .failure: false
      }
    }
    if redirected { return Finding.openRedirect }
    guard !observations.redirects.isEmpty else { return .open(.authorization, id, title, authorizationGap) }
    let accepted = Observations.RedirectKind.allCases.filter { observations.redirects[$0]?.isAccepted == true }
    guard !accepted.isEmpty else {
      return .found(.authorization, id, title, "exact", "only the registered one, byte for byte")
    }
    return .found(
      .authorization, id, title, accepted.map(\.rawValue).joined(separator: " "),
      "also accepted: \(accepted.map(\.words).joined(separator: ", "))",
      accepted.allSatisfy { observations.redirects[$0] == observations.knownClient } ? .certain : .likely,
      advice: "the gateway compares exactly for its clients; register only `ORIGIN/.proofgate/callback` at the server",
      isWarning: accepted.contains(.otherHost) || accepted.contains(.otherPath))
  }

  private var stateLimit: Finding {
    let (id, title) = ("state_limit", "longest `state`")
    switch observations.stateLimit {
    case .atLeast(let count)?:
      return .found(.authorization, id, title, count, "at least \(count) bytes before the login", .likely)
    case .exactly(let count)? where count < 14:
      return .found(
        .authorization, id, title, count, "no `state` of 14 bytes is accepted",
        advice: "the gateway cannot be used: it recognises sign-ins by `state`", isWarning: true)
    case .exactly(let count)?:
      return .found(
        .authorization, id, title, count, "\(count) bytes",
        advice: count < UpstreamSettings.defaultStateLimit
          ? "the policy sets `state_limit`, so that the gateway sends a handle" : nil)
    case nil:
      if let signIn = observations.signIn, signIn.state == .unchanged {
        return .found(
          .authorization, id, title, signIn.stateLength, "at least \(signIn.stateLength) bytes, in the sign-in")
      }
      return .open(.authorization, id, title, authorizationGap)
    }
  }

  private var urlLimit: Finding {
    let (id, title) = ("url_limit", "longest parameter")
    switch observations.urlLimit {
    case .atLeast(let count)?:
      return .found(.authorization, id, title, count, "at least \(count) bytes in the URL")
    case .exactly(let count)?:
      return .found(
        .authorization, id, title, count, "about \(count) bytes in the URL",
        advice: count < 4_096 ? "keep `state_limit` well below" : nil)
    case nil: return .open(.authorization, id, title, stop == nil ? "no clear answer" : "the probe ended early")
    }
  }
}

extension Finding {
  /// Returns the name of a reaction for programs.
  static func value(_ reaction: Reaction) -> String {
    switch reaction {
    case .login: "login"
    case .otherSite: "other_site"
    case .page: "page_200"
    case .errorPage(let status): "page_\(status)"
    case .errorRedirect: "redirect_to_page"
    case .errorToApp: "redirect_to_app"
    case .answerToApp: "answer_to_app"
    case .moved: "moved"
    case .json(let status): "json_\(status)"
    case .failure: "no_answer"
    }
  }

  static var openRedirect: Finding {
    .found(
      .authorization, "redirect_uris", "redirect URIs", "any_for_errors",
      "the server redirects errors also to a redirect URI that is not registered (RFC 9700, section 4.11)",
      advice: "the gateway refuses such requests itself; close the way around it", isWarning: true)
  }
}

extension Observations.RedirectKind {
  /// The kind in words.
  var words: String {
    switch self {
    case .otherPath: "another path below the registered one"
    case .otherQuery: "an added query"
    case .otherHost: "another host"
    case .loopback: "a loopback URI"
    case .loopbackOtherPort: "another loopback port"
    case .privateUse: "a private-use scheme"
    }
  }
}
