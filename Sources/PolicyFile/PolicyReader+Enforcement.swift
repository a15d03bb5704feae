import OAuth
import Policy
import Time
import YAML

extension PolicyEnforcement: SectionDraft {
  fileprivate static let section = Section<PolicyEnforcement>(table)
}

extension PolicyReader {
  func readEnforcement(_ field: Field) {
    guard let fields = read(field.node, PolicyEnforcement.section, into: &enforcement) else { return }
    hasInvalidRefreshDefaults = fields.hasInvalid(["mode", "raw_refresh_until"])
    pushedAuthorizationNode = fields["pushed_authorization"]?.node
    if let field = fields.valid("consent_remembered"), enforcement.defaults.consentRemembered > 0 {
      rememberedLocation = SourceLocation(field.node)
    }
    if let field = fields["unlisted_oauth"], enforcement.unlistedOAuth == .observe {
      unlistedObservedLocation = SourceLocation(field.node)
    }
    if let field = fields.valid("unknown_clients"), enforcement.unknownClients != .reject {
      warn(
        .unknownClients, field.node,
        "`unknown_clients: \(enforcement.unknownClients.rawValue)` lets clients through that no rule here covers; list "
          + "them and use `reject`")
    }
    if let field = fields.valid("redirects") {
      for kind in RedirectKind.allCases where !enforcement.redirects.contains(kind) {
        warn(
          .redirectKindOff, field.node,
          "`redirects` lacks `\(kind.rawValue)`, so the profile of RFC 8252 is not met; apps need all three kinds")
      }
    }
    lint(enforcement.defaults, fields)
  }

  /// Reports the rules of a mapping that depart from the RFCs.
  func lint(_ rules: EnforcementSettings, _ fields: Fields) {
    if rules.mode == .observe, let field = fields.valid("mode") {
      warn(
        .observeMode, field.node,
        "`mode: observe` refuses nothing; use `enforce` once the log shows that apps comply")
    }
    if let field = fields.valid("pkce_methods") { lint(rules.pkceMethods, field) }
    if rules.pkceSyntax == .lenient, let field = fields.valid("pkce_syntax") {
      warn(.lenientPKCE, field.node, "`pkce_syntax: lenient` accepts base64 padding in verifiers; use `strict`")
    }
    if rules.state == .off, let field = fields.valid("state") {
      warn(.stateOff, field.node, "`state: off` does not even log requests without state; use `report` or `require`")
    }
    if rules.localhost == .anyPort || rules.localhost == .portless, let field = fields.valid("localhost") {
      warn(
        .localhostAnyPort, field.node,
        "`localhost: \(rules.localhost.rawValue)` trusts name resolution on the user's machine; have apps use `127.0.0.1` and `[::1]`"
      )
    }
    if let field = fields.valid("schemes"), field.node.text == SchemeRule.minimum.rawValue {
      warn(
        .minimumSchemes, field.node,
        "`schemes: minimum` accepts schemes that are not a reversed domain name; use `strict`")
    }
    if rules.embeddedUserAgents == .off, let field = fields.valid("embedded_user_agents") {
      warn(
        .embeddedUserAgentsOff, field.node,
        "`embedded_user_agents: off` does not look for logins in an app's web view; use `report` or `block`")
    }
    lintTokens(rules, fields)
  }

  private func lintTokens(_ rules: EnforcementSettings, _ fields: Fields) {
    if let window = rules.refreshReuseWindow, window > 30, let field = fields.valid("refresh_reuse_window") {
      warn(
        .refreshReuseWindow, field.node,
        "`refresh_reuse_window` repeats the answer for a used refresh token for a while, also to a thief; use "
          + "`30s` or less")
    }
    if let end = rules.rawRefreshUntil, end > 0, end <= now, let field = fields.valid("raw_refresh_until") {
      warn(
        .rawRefresh, field.node,
        "`raw_refresh_until` is past, so refresh tokens from before the gateway are refused since \(field.node.text ?? "") "
          + "(UTC); write `never`, or a later date")
    } else if let end = rules.rawRefreshUntil, end > 0, let field = fields.valid("raw_refresh_until") {
      warn(
        .rawRefresh, field.node,
        "`raw_refresh_until` accepts refresh tokens that are not bound to a client here, until the end of "
          + "\(field.node.text ?? "") (UTC); use `never` when the apps have used theirs once")
    }
  }

  private func lint(_ methods: Set<CodeChallengeMethod>, _ field: Field) {
    if methods.contains(.plain) {
      warn(.plainEnabled, field.node, "`plain` puts the verifier into the authorization request; remove it")
    }
    if !methods.contains(.s256) {
      error(.s256Missing, field.node, "`pkce_methods` lacks `S256`, which every server has to support; add it")
    }
  }
}
