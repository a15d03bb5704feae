extension ProbeReport {
  var signInFindings: [Finding] {
    guard let seen = observations.signIn else {
      return [
        .open(.signIn, "sign_in", "code, refresh token", "needs `--sign-in`, or `--callback` with the URL of a sign-in")
      ]
    }
    guard let length = seen.codeLength else {
      return [
        .found(
          .signIn, "sign_in", "sign-in", "no_code",
          "the response has no code\(seen.error.map { ", but `error=\($0)`" } ?? "")",
          advice: "sign in again, and copy the whole URL of the last redirect", isWarning: true)
      ]
    }
    return [
      .found(
        .signIn, "code", "code", length, "\(length) characters (\(seen.alphabet?.rawValue ?? "other"))"),
      seen.state.map(stateFinding), redemption(seen), verifier(seen), seen.reuse.map(reuse), redirectURI(seen),
      refresh(seen), seen.commaSeparatedScopes ? scopes : nil, revoked(seen),
    ].compactMap(\.self)
  }

  private func stateFinding(_ state: SignInObservations.State) -> Finding {
    .found(
      .signIn, "state", "`state`", state.rawValue,
      state == .unchanged ? "returned unchanged" : state == .changed ? "returned changed" : "not returned",
      advice: state == .unchanged ? nil : "the gateway cannot be used: it recognises sign-ins by `state`",
      isWarning: state != .unchanged)
  }

  private func redemption(_ seen: SignInObservations) -> Finding? {
    guard let answer = seen.redemption else {
      return .open(.signIn, "redemption", "redemption of the code", tokenGap)
    }
    return .found(
      .signIn, "redemption", "redemption of the code", answer.hasTokens ? "tokens" : "refused", answer.description,
      advice: answer.hasTokens
        ? nil : "a code works once and for a short time: sign in again; check the client and its secret",
      isWarning: !answer.hasTokens)
  }

  private func verifier(_ seen: SignInObservations) -> Finding? {
    switch seen.verifier {
    case .ignored?:
      .found(
        .signIn, "pkce", "PKCE", "ignored", "ignored: the code was redeemed with a wrong verifier",
        advice: "no action: the gateway verifies PKCE; `pkce: forward` has no effect at this server")
    case .enforced?:
      .found(
        .signIn, "pkce", "PKCE", "enforced", "verified: a wrong verifier is refused, the right one accepted",
        advice: "the policy sets `pkce: forward`, so that the gateway binds its own sign-ins, too")
    case .probablyEnforced?:
      .found(
        .signIn, "pkce", "PKCE", "probably_enforced",
        "a wrong verifier is refused, and the right one afterwards, too: the first attempt has used up the code",
        .likely,
        advice: "try `pkce: forward`")
    case nil: nil
    }
  }

  private func reuse(_ reuse: Observations.Reuse) -> Finding {
    .found(
      .signIn, "code_reuse", "second use of a code", reuse.rawValue,
      reuse == .refused ? "refused" : "accepted (RFC 6749, section 4.1.2 forbids it)",
      advice: reuse == .refused ? nil : "the gateway redeems each code once; close the way around it",
      isWarning: reuse == .accepted)
  }

  private func redirectURI(_ seen: SignInObservations) -> Finding? {
    guard let compares = seen.comparesRedirectURI else { return nil }
    return .found(
      .signIn, "redirect_uri_comparison", "`redirect_uri` at the token endpoint", compares ? "compared" : "ignored",
      compares ? "another one is refused" : "not compared", compares ? .likely : .certain,
      advice: compares ? nil : "the gateway compares it itself", isWarning: false)
  }

  private func refresh(_ seen: SignInObservations) -> Finding? {
    guard let has = seen.hasRefreshToken else { return nil }
    let (id, title) = ("refresh", "refresh tokens")
    guard has else { return .found(.signIn, id, title, "none", "none was issued") }
    guard let rotates = seen.rotates else {
      return .found(.signIn, id, title, "not_accepted", "issued, but the refresh was refused", isWarning: true)
    }
    guard rotates else {
      return .found(
        .signIn, id, title, "fixed", "issued, not rotated", advice: "no action: the gateway rotates its own")
    }
    let old = seen.oldRefreshToken == .accepted ? "; the old one keeps working" : "; the old one is refused"
    return .found(.signIn, id, title, "rotated", "issued and rotated\(seen.oldRefreshToken == nil ? "" : old)")
  }

  private var scopes: Finding {
    .found(
      .signIn, "scopes", "scopes", "comma", "separated by commas in the token response",
      advice: "no action: apps get them separated by spaces")
  }

  private func revoked(_ seen: SignInObservations) -> Finding? {
    guard seen.redemption?.hasTokens == true else { return nil }
    return seen.revoked == true
      ? .found(.signIn, "clean_up", "tokens of this probe", "revoked", "revoked at the server")
      : .found(
        .signIn, "clean_up", "tokens of this probe", "kept", "not revoked; the probe has discarded them",
        advice: "they are valid until the server ends them: sign in with a test user")
  }
}
