extension ProbeReport {
  var tokenFindings: [Finding] {
    [errorForm, getFinding, authentication, withoutSecret, badCode, verifierParameter, unknownParameter]
      .compactMap(\.self)
  }

  private var errorForm: Finding {
    let (id, title) = ("token_errors", "errors")
    guard let error = observations.tokenError else {
      return .open(.token, id, title, observations.token == nil ? tokenGap : "no answer had an error of OAuth")
    }
    var deviations: [String] = []
    if error.status < 400 { deviations.append("status \(error.status) in place of 400 or 401") }
    if error.format != .json { deviations.append("no JSON") }
    if let name = error.errorName, name != "error" { deviations.append("the member is `\(name)`") }
    return .found(
      .token, id, title, error.error ?? "none", error.description,
      advice: deviations.isEmpty
        ? nil
        : "not as in RFC 6749, section 5.2: \(deviations.joined(separator: ", ")); the gateway corrects it for apps")
  }

  private var getFinding: Finding? {
    guard let get = observations.tokenGET else { return nil }
    return get.isOAuth
      ? .found(
        .token, "token_get", "requests by GET", "accepted", "processed: codes and secrets can end in logs",
        advice: "the gateway refuses them; close the way around it", isWarning: true)
      : .found(.token, "token_get", "requests by GET", "refused", "refused with status \(get.status)")
  }

  private var authentication: Finding? {
    let (id, title) = ("authentication", "client authentication")
    if options.clientID != nil, options.clientSecret == nil {
      return observations.worksWithoutSecret.map {
        .found(
          .token, id, title, $0 ? "none" : "refused",
          $0 ? "the client needs no secret" : "the client is refused without a secret",
          advice: $0 ? nil : "name its secret with `--client-secret-file`")
      } ?? .open(.token, id, title, tokenGap)
    }
    guard let basic = observations.basic, let post = observations.post else {
      return .open(
        .token, id, title, options.clientSecret == nil ? "needs `--client-id` and `--client-secret-file`" : tokenGap)
    }
    if observations.basicRaw == .accepted {
      return .found(.token, id, title, "basic_raw", "HTTP Basic works without form encoding only")
    }
    switch (basic, post) {
    case (.accepted, .accepted):
      return .found(.token, id, title, "basic post", "HTTP Basic and fields of the body work")
    case (.accepted, _): return .found(.token, id, title, "basic", "HTTP Basic works, fields of the body do not")
    case (_, .accepted):
      return .found(.token, id, title, "post", "fields of the body work, HTTP Basic does not")
    case (.refused, .refused):
      return .found(
        .token, id, title, "refused", "the secret is refused by HTTP Basic and in the body",
        advice: "check `--client-id` and the secret, also for a line end in the file", isWarning: true)
    case (.unclear, _), (_, .unclear):
      return .found(
        .token, id, title, "unclear", "right and wrong secrets get the same answer: the code is checked first", .likely,
        advice: "`--sign-in` shows which method works")
    }
  }

  private var withoutSecret: Finding? {
    guard options.clientSecret != nil, let works = observations.worksWithoutSecret else { return nil }
    return works
      ? .found(
        .token, "secret_required", "without the secret", "accepted", "the server does not ask for the secret",
        advice: "any program with a code can redeem it at the server; close the way around the gateway", isWarning: true
      )
      : .found(.token, "secret_required", "without the secret", "refused", "refused")
  }

  private var badCode: Finding? {
    guard let bad = observations.badCode else { return nil }
    return .found(
      .token, "bad_code", "an invalid code gets", bad.error ?? "none", bad.description,
      advice: bad.error == "invalid_grant" ? nil : "apps get `invalid_grant` from the gateway (RFC 6749, section 5.2)")
  }

  private var verifierParameter: Finding {
    let (id, title) = ("code_verifier", "`code_verifier`")
    guard let accepted = observations.verifierParameter else { return .open(.token, id, title, tokenGap) }
    return .found(
      .token, id, title, accepted ? "accepted" : "refused",
      accepted ? "accepted; only a sign-in shows whether it is verified" : "changes the answer: probably refused",
      accepted ? .certain : .likely, advice: accepted ? nil : "keep `pkce: strip`")
  }

  private var unknownParameter: Finding? {
    observations.tokenUnknownParameter.map {
      .found(
        .token, "token_unknown_parameters", "unknown parameters", $0 ? "ignored" : "refused",
        $0 ? "ignored" : "refused", advice: $0 ? nil : "no action: the gateway sends only those of OAuth")
    }
  }
}
