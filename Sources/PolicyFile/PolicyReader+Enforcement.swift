import OAuth
import Policy
import YAML

extension PolicyReader {
  func readEnforcement(_ field: Field) {
    fields(field.node, named: "enforcement", EnforcementKey.self) { key, field in
      switch key {
      case .mode: readRule(.mode, field, &defaults)
      case .profile: readRule(.profile, field, &defaults)
      case .unknownClients: readUnknownClients(field)
      case .unlistedOAuth:
        unlistedOAuth = choice(field, UnlistedOAuth.self) ?? unlistedOAuth
        if unlistedOAuth == .observe { unlistedObserved = Place(field.node) }
      case .redirects: readRedirects(field)
      case .pkceMethods: readRule(.pkceMethods, field, &defaults)
      case .pkceSyntax: readRule(.pkceSyntax, field, &defaults)
      case .state: readRule(.state, field, &defaults)
      case .localhost: readRule(.localhost, field, &defaults)
      case .schemes: readRule(.schemes, field, &defaults)
      case .embeddedUserAgents: readRule(.embeddedUserAgents, field, &defaults)
      case .codeLifetime: readRule(.codeLifetime, field, &defaults)
      case .deviceCodeLifetime: readDeviceCodeLifetime(field, &defaults)
      case .refreshReuseWindow: readRule(.refreshReuseWindow, field, &defaults)
      case .refreshIdle: readRule(.refreshIdle, field, &defaults)
      case .rawRefreshUntil: readRule(.rawRefreshUntil, field, &defaults)
      case .pushedAuthorization:
        pushedNode = field.node
        readRule(.pushedAuthorization, field, &defaults)
      case .fragmentGuard: readRule(.fragmentGuard, field, &defaults)
      }
    }
  }

  /// Reads one rule into `settings` and says where it departs from the RFCs.
  func readRule(_ rule: RuleKey, _ field: Field, _ settings: inout RuleSettings) {
    switch rule {
    case .mode:
      guard !isReplaced(field, ["report"]), let mode = choice(field, Mode.self) else { return }
      settings.mode = mode
      if mode == .observe {
        warn(
          .observeMode, field.node,
          "`mode: observe` refuses nothing; use `enforce` once the log shows that apps comply")
      }
    case .profile: settings.profile = choice(field, Profile.self) ?? settings.profile
    case .pkceMethods: readMethods(field, &settings)
    case .pkceSyntax:
      guard let syntax = choice(field, PKCESyntax.self) else { return }
      settings.pkceSyntax = syntax
      if syntax == .lenient {
        warn(.lenientPKCE, field.node, "`pkce_syntax: lenient` accepts base64 padding in verifiers; use `strict`")
      }
    case .state:
      guard let state = choice(field, StateRule.self) else { return }
      settings.state = state
      if state == .off {
        warn(.stateOff, field.node, "`state: off` does not even log requests without state; use `report` or `require`")
      }
    case .localhost:
      guard let localhost = choice(field, LocalhostRule.self) else { return }
      settings.localhost = localhost
      if localhost == .anyPort {
        warn(
          .localhostAnyPort, field.node,
          "`localhost: any_port` trusts name resolution on the user's machine; have apps use `127.0.0.1` and `[::1]`")
      }
    case .schemes:
      guard let schemes = choice(field, SchemeRule.self) else { return }
      settings.schemes = schemes
      if schemes == .minimum {
        warn(
          .minimumSchemes, field.node,
          "`schemes: minimum` accepts schemes that are not a reversed domain name; use `strict`")
      }
    case .embeddedUserAgents:
      guard let rule = choice(field, EmbeddedUserAgentRule.self) else { return }
      settings.embeddedUserAgents = rule
      if rule == .off {
        warn(
          .embeddedUserAgentsOff, field.node,
          "`embedded_user_agents: off` does not look for logins in an app's web view; use `report` or `block`")
      }
    case .codeLifetime:
      settings.codeLifetime =
        lifetime(field, most: 600, .codeLifetime, "codes live at most 10 minutes") ?? settings.codeLifetime
    case .deviceCodeLifetime:
      settings.deviceCodeLifetime =
        lifetime(field, most: 1_800, .deviceCodeLifetime, "device codes live at most 30 minutes")
        ?? settings.deviceCodeLifetime
    case .refreshReuseWindow:
      guard let seconds = seconds(field, least: 0) else { return }
      guard seconds <= 60 else {
        error(
          .refreshReuseWindow, field.node,
          "`refresh_reuse_window` cannot be `\(Quantity.duration(seconds * 1_000))`; it is for requests that cross, use "
            + "`60s` or less")
        return
      }
      settings.refreshReuseWindow = seconds
      if seconds > 0 {
        warn(
          .refreshReuseWindow, field.node,
          "`refresh_reuse_window` gives whoever repeats a refresh token the same answer for a while; use `0s` where apps "
            + "refresh once at a time")
      }
    case .refreshIdle:
      settings.refreshIdle = seconds(field, least: 60, most: 10 * 365 * 86_400) ?? settings.refreshIdle
    case .rawRefreshUntil:
      guard let date = date(field) else { return }
      settings.rawRefreshUntil = date.endsAt
      warn(
        .rawRefresh, field.node,
        "`raw_refresh_until` takes refresh tokens that are bound to no client here, until the end of \(date.text) (UTC); "
          + "remove it when the apps have used theirs once")
    case .pushedAuthorization:
      settings.pushedAuthorization = choice(field, PushedAuthorizationRule.self) ?? settings.pushedAuthorization
    case .fragmentGuard: settings.fragmentGuard = flag(field) ?? settings.fragmentGuard
    }
  }

  /// Whole seconds.
  func seconds(_ field: Field, least: Int, most: Int = Int.max / 1_000) -> Int? {
    guard let milliseconds = duration(field, least * 1_000...most * 1_000) else { return nil }
    guard milliseconds.isMultiple(of: 1_000) else {
      error(.invalidValue, field.node, "`\(field.name)` is counted in whole seconds; use a unit of `s`, `m` or `h`")
      return nil
    }
    return milliseconds / 1_000
  }

  private func readMethods(_ field: Field, _ settings: inout RuleSettings) {
    guard let methods = choices(field, CodeChallengeMethod.self) else { return }
    settings.pkceMethods = methods
    if methods.contains(.plain) {
      warn(.plainEnabled, field.node, "`plain` shows the verifier to whoever sees the request; remove it")
    }
    if !methods.contains(.s256) {
      error(.s256Missing, field.node, "`pkce_methods` lacks `S256`, which every server has to support; add it")
    }
  }

  /// Seconds.
  private func lifetime(_ field: Field, most: Int, _ id: DiagnosticID, _ rule: String) -> Int? {
    guard let milliseconds = duration(field, 0...Int.max) else { return nil }
    guard milliseconds >= 1_000, milliseconds.isMultiple(of: 1_000) else {
      error(.invalidValue, field.node, "`\(field.name)` is counted in whole seconds; use at least `1s`")
      return nil
    }
    guard milliseconds <= most * 1_000 else {
      error(
        id, field.node,
        "`\(field.name)` cannot be `\(Quantity.duration(milliseconds))`; \(rule), use "
          + "`\(Quantity.duration(most * 1_000))` or less")
      return nil
    }
    return milliseconds / 1_000
  }

  /// Reports a value of earlier versions that `observe` has replaced; false for any other value.
  private func isReplaced(_ field: Field, _ values: [String]) -> Bool {
    guard let text = field.node.text, values.contains(text) else { return false }
    error(
      .invalidValue, field.node,
      "`\(field.name): \(text)` is no longer a value; use `\(field.name): observe`, which changes nothing on the wire")
    return true
  }

  private func readUnknownClients(_ field: Field) {
    guard !isReplaced(field, ["report", "pass"]), let rule = choice(field, UnknownClients.self) else { return }
    unknownClients = rule
    if rule != .reject {
      warn(
        .unknownClients, field.node,
        "`unknown_clients: \(rule.rawValue)` lets clients through that no rule here covers; list them and use `reject`")
    }
  }

  private func readRedirects(_ field: Field) {
    guard let kinds = choices(field, RedirectKind.self) else { return }
    redirects = kinds
    for kind in RedirectKind.allCases where !kinds.contains(kind) {
      warn(
        .redirectKindOff, field.node,
        "`redirects` lacks `\(kind.rawValue)`, so the profile of RFC 8252 is not met; apps need all three kinds")
    }
  }
}
