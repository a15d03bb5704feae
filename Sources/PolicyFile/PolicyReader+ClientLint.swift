import OAuth
import Policy
import Time
import YAML

extension PolicyReader {
  /// Reports settings of a client that contradict each other or an RFC.
  func lint(_ draft: ClientDraft) {
    lintRedirectURIs(draft)
    guard let kind = draft.kind else { return }
    lintType(draft, kind)
    lintPKCE(draft, kind)
    lintGrants(draft, kind)
    lintCredentials(draft, kind)
    lintRawRefresh(draft)
    lintOldVersion(draft, kind)
    lintReuseNetworks(draft)
    lintPushed(draft, kind)
    lintDevice(draft)
    if let modes = draft.fields.valid("response_modes"), draft.settings.responseModes.contains(.formPost),
      draft.redirectURIs.contains(where: { $0.value.privateUseScheme != nil })
    {
      warn(
        .responseMode, modes.node,
        "\(draft.title) has a private-use redirect URI, which no form can be posted to; remove `form_post`")
    }
  }

  private func lintType(_ draft: ClientDraft, _ kind: ClientType) {
    if kind == .confidential, draft.settings.application == .native {
      error(
        .nativeConfidential, draft.fields["type"]?.node ?? draft.node,
        "\(draft.title) is a native app, whose copies cannot keep a shared secret; use `type: public`")
    }
    if kind == .public, let secret = draft.fields["secret"] {
      error(
        .publicSecret, secret.node,
        "\(draft.title) is public, so a secret proves nothing; remove `secret` or use `type: confidential`")
    }
  }

  private func lintPKCE(_ draft: ClientDraft, _ kind: ClientType) {
    let rule = draft.settings.pkce
    guard let pkce = draft.fields.valid("pkce"), rule != .required else { return }
    if draft.settings.application == .native {
      error(
        .pkceNative, pkce.node,
        "\(draft.title) is a native app, for which PKCE cannot be `\(rule.rawValue)`; use `required`")
    } else if kind == .public, rule == .off {
      error(.pkceOff, pkce.node, "\(draft.title) is public, for which PKCE cannot be `off`; use `required`")
    } else if draft.rules.profile == .oauth21, !(kind == .confidential && draft.settings.reliesOnNonce) {
      error(
        .pkceProfile, pkce.node,
        "\(draft.title) is held to OAuth 2.1, where PKCE cannot be `\(rule.rawValue)`; use `required`, or "
          + "`relies_on_nonce: true` for a confidential client that checks the nonce")
    } else {
      warn(
        .pkceOptional, pkce.node,
        "\(draft.title) may leave PKCE out, so a stolen code can be injected; use `required` once it sends PKCE")
    }
  }

  private func lintGrants(_ draft: ClientDraft, _ kind: ClientType) {
    for grant in draft.restrictedGrants {
      if grant.value == .password {
        error(
          .grant, grant.node,
          "\(draft.title) cannot have the password grant, which shows passwords to apps; use `authorization_code`")
      } else if kind == .public {
        error(
          .grant, grant.node,
          "\(draft.title) is public and has no credentials; remove `client_credentials`")
      } else if draft.fields["secret"] != nil || draft.hasDifferentUpstreamID {
        error(
          .grant, grant.node,
          "\(draft.title) authenticates to the gateway, which does not send its own credentials for this grant; remove "
            + "`client_credentials`")
      }
    }
    if draft.settings.grants.contains(.authorizationCode), draft.hasNoRedirectURI {
      error(
        .noRedirectURI, draft.node,
        "\(draft.title) has the authorization code grant and no redirect URI; add `redirect_uris`")
    }
  }

  private func lintRawRefresh(_ draft: ClientDraft) {
    guard let end = draft.rules.rawRefreshUntil, end > 0, let field = draft.fields["raw_refresh_until"],
      let upstream = draft.upstream.id, upstream != draft.id
    else { return }
    warn(
      .rawRefresh, field.node,
      "\(draft.title) is `\(upstream.rawValue)` upstream, so older refresh tokens do not belong to it and are refused; "
        + "use `never`")
  }

  /// Reports a client whose old version is accepted. The risk is that of the server before there was a gateway, so that the
  /// date should not be forgotten.
  private func lintOldVersion(_ draft: ClientDraft, _ kind: ClientType) {
    guard let field = draft.fields.valid("accept_old_version_until"), let end = draft.settings.acceptOldVersionUntil
    else { return }
    let reason: String? =
      if kind == .confidential {
        "it is confidential; use `pkce: optional`"
      } else if draft.hasDifferentUpstreamID {
        "it has another id upstream, where the secret of its old version is unknown"
      } else if draft.rules.profile == .oauth21 { "OAuth 2.1 needs PKCE" } else { nil }
    if let reason {
      warn(.oldVersion, field.node, "`accept_old_version_until` of \(draft.title) has no effect, because \(reason)")
    } else if now >= end {
      warn(
        .oldVersion, field.node,
        "`accept_old_version_until` of \(draft.title) is past, so its old version is refused; remove the setting")
    } else {
      warn(
        .oldVersion, field.node,
        "sign-ins of \(draft.title) need no PKCE until the end of \(field.node.text ?? "") (UTC), so a stolen code and the "
          + "secret in its old version suffice for the tokens of a user; remove `accept_old_version_until` as soon as the "
          + "log has no more `old-version-accepted`")
    }
  }

  /// Reports an enforced client for which the operator has not decided on refresh tokens from before the gateway. Without
  /// the decision, enforcing the client could sign its users out unnoticed.
  func lintRawRefreshDecision(_ client: Client, _ draft: ClientDraft) {
    // A setting that cannot be read has been reported, and could change the result of this check.
    guard client.needsRawRefreshDecision, client.rawRefreshUntil == nil, !hasInvalidRefreshDefaults,
      !draft.fields.hasInvalid(["mode", "raw_refresh_until"]),
      draft.upstream.fields["client_id"] == nil || draft.upstream.id != nil
    else { return }
    let remedy =
      draft.hasDifferentUpstreamID
      ? "set `raw_refresh_until: never`, because it is `\(client.upstream.clientID.rawValue)` upstream, which cannot use "
        + "older tokens of `\(client.id.rawValue)`; to keep users of that id signed in, remove `client_id` below "
        + "`upstream` and set a date"
      : "set `raw_refresh_until` to a date such as `2027-03-31`, so that its users stay signed in, or to `never`"
    error(
      .rawRefreshUndecided, draft.node,
      "\(draft.title) is enforced, and refresh tokens from before the gateway are not decided on; \(remedy)")
  }

  private func lintReuseNetworks(_ draft: ClientDraft) {
    guard draft.settings.refreshReuseNetworks == .any, let field = draft.fields["refresh_reuse_networks"] else {
      return
    }
    let message =
      Client(draft.settings).refreshReuseWindow > 0
      ? "answers a repeated refresh token of \(draft.title) from any address; use `same` unless its apps "
        + "change networks while they refresh"
      : "has no effect without `refresh_reuse_window`; remove it"
    warn(.refreshReuseNetworks, field.node, "`refresh_reuse_networks: any` " + message)
  }

  /// Reports an observed device client. The gateway cannot observe the device grant, because it does not forward requests
  /// to a device authorization endpoint of the server.
  private func lintDevice(_ draft: ClientDraft) {
    guard draft.settings.grants.contains(.deviceCode), draft.rules.mode == .observe,
      let field = draft.fields["grants"] ?? draft.fields["application"]
    else { return }
    reportUnsupported(
      field, "\(draft.title) is observed, and the device grant is not supported in `mode: observe` yet; use `enforce`")
  }

  private func lintPushed(_ draft: ClientDraft, _ kind: ClientType) {
    guard draft.rules.pushedAuthorization != .off, let node = draft.fields["pushed_authorization"]?.node else { return }
    lintPushedEndpoint(node, draft.rules.pushedAuthorization)
    guard kind == .confidential, draft.fields["secret"] == nil, !draft.upstream.hasClientSecret else { return }
    error(
      .pushedAuthorization, node,
      "\(draft.title) authenticates to the upstream only, and pushed requests never go there; add "
        + "`secret: { file: PATH }` or use `pushed_authorization: off`")
  }

  /// Reports `pushed_authorization` if `endpoints` has no path for it, because then no client can push a request.
  func lintPushedEndpoint(_ node: YAMLNode, _ rule: PushedAuthorizationPolicy) {
    guard rule != .off, let upstream, upstream.endpoints.pushedAuthorization.isEmpty else { return }
    error(
      .pushedAuthorization, node,
      "`pushed_authorization: \(rule.rawValue)` needs a path where clients push; add `pushed_authorization: /par` to "
        + "`endpoints`")
  }

  private func lintCredentials(_ draft: ClientDraft, _ kind: ClientType) {
    if kind == .confidential, let secret = draft.settings.secret, let node = draft.fields["secret"]?.node {
      let bits = SecretStrength.bits(of: secret)
      if bits < SecretStrength.requiredBits {
        warn(
          .weakSecret, node,
          "the secret of \(draft.title) has at most \(Int(bits)) bits and could be guessed; use 128 random bits, such as "
            + "32 hexadecimal digits of `openssl rand -hex 16`")
      }
    }
    // `lintType(_:_:)` has already reported a native app that is confidential.
    if kind == .confidential, draft.hasDifferentUpstreamID, draft.fields["secret"] == nil,
      draft.settings.application != .native
    {
      error(
        .missingSecret, draft.node,
        "\(draft.title) is confidential and has another id upstream, so it must authenticate to the gateway; add "
          + "`secret: { file: PATH }`")
    }
    guard let field = draft.upstream.fields.valid("authentication") else { return }
    let authentication = draft.upstream.settings.authentication
    switch authentication {
    case .basic, .basicRaw, .post:
      if !draft.upstream.hasClientSecret {
        error(
          .missingSecret, field.node,
          "`authentication: \(authentication.rawValue)` needs a secret; add `client_secret: { file: PATH }`")
      }
    case .none:
      if draft.upstream.hasClientSecret {
        error(
          .conflict, field.node,
          "`authentication: none` leaves `client_secret` unused; remove one of the two")
      }
    }
  }
}
