internal import ByteText
import OAuth
import Policy

// Rules on `scope` and on the other parameters that limit a token.

/// The scope token by which a client asks for a refresh token (OpenID Connect Core 1.0, section 11).
private let offlineAccess = "offline_access"

extension Rule where Context: FormContext {
  /// RFC 6749, section 3.3.
  static var scopeWellFormed: Rule {
    Rule(name: "scope is a list of scope tokens", source: "RFC 6749, section 3.3") { context in
      guard let scope = context.parameters[.scope], Scope(parsing: scope) == nil else { return .pass }
      return .refuse(.scopeMalformed)
    }
  }

  /// RFC 6749, section 3.3. A client that the policy does not list may request only the scope tokens that the policy
  /// permits to it. `offline_access` is left out of its request instead (``UpstreamScope``): MCP clients append it without
  /// knowing whether they may have it.
  static var scopeAllowed: Rule {
    Rule(name: "the client may request the scope", source: "RFC 6749, section 3.3") { context in
      guard let allowed = context.client?.allowedScopes, let scope = context.requestedScope else { return .pass }
      return scope.tokens.allSatisfy { $0 == offlineAccess || allowed.contains(String($0)) }
        ? .pass : .refuse(.scopeNotAllowed)
    }
  }

  /// RFC 8707, section 3. Some servers derive the audience of a token from its scope, so a client could otherwise get a
  /// token for a resource that it does not name. A refresh cannot widen the scope of its grant, and the authorization
  /// request has passed this rule.
  static var scopeOfRequestedResource: Rule {
    Rule(name: "the scope selects no other resource", source: "RFC 8707, section 3") { context in
      guard !context.policy.resources.isEmpty, context.parameters[.grantType] != GrantType.refreshToken.rawValue,
        let scope = context.requestedScope
      else { return .pass }
      let resource = RequestedResource(context.parameters, context.policy).resource
      return scope.tokens.contains { context.policy.resources.reserves(scope: String($0), inRequestFor: resource) }
        ? .refuse(.scopeOfOtherResource) : .pass
    }
  }

  /// RFC 6749, section 3.3. The client may rely on a scope token that is not sent upstream, so the operator gets a
  /// finding. The redemption of a code gives no finding, because `scope` has no meaning in the token request that
  /// redeems a code.
  static var droppedScopeNoted: Rule {
    Rule(name: "a scope that is not forwarded is noted", source: "RFC 6749, section 3.3") { context in
      guard let client = context.client, client.upstream.scopes != nil || context.policy.upstream.scopes != nil else {
        return .pass
      }
      let scope = UpstreamScope(context.requestedScope, client: client, policy: context.policy, appliesDefault: false)
      return scope.isNarrowed ? .note(.scopeDropped) : .pass
    }
  }

  /// RFC 8707, section 2. Without `resource`, the token may be valid at more resources than the client requested. If the
  /// policy lists resources, the gateway itself limits the token to one of them.
  static var droppedResourceNoted: Rule {
    Rule(name: "a resource that is not forwarded is noted", source: "RFC 8707, section 2") { context in
      context.policy.resources.isEmpty && context.drops(.resource) ? .note(.resourceDropped) : .pass
    }
  }

  /// RFC 9396, sections 2 and 6. Without the details, the token may permit more than the client requested.
  static var droppedAuthorizationDetailsNoted: Rule {
    Rule(
      name: "authorization details that are not forwarded are noted",
      source: "RFC 9396, sections 2 and 6"
    ) { context in
      context.drops(.authorizationDetails) ? .note(.authorizationDetailsDropped) : .pass
    }
  }
}

extension FormContext {
  /// Returns true if the request has the parameter and the gateway does not forward it, because `upstream.parameters`
  /// does not list it.
  fileprivate func drops(_ parameter: ParameterName) -> Bool {
    parameters.contains(parameter) && !policy.upstream.parameters.contains(parameter.text)
  }
}

extension Rule where Context == RefreshContext {
  /// RFC 6749, section 6. Compares the granted scope with the scope that is sent upstream, not with the one that the
  /// client sent: scope tokens in `scopes.drop` are never sent upstream, so the upstream never granted them. If neither
  /// the authorization request nor the upstream's response contained a scope, only the upstream knows the granted
  /// scope. The rule then passes, unless a scope token selects another resource than that of the grant.
  static var refreshScopeNotWidened: Rule {
    Rule(name: "scope is not widened", source: "RFC 6749, section 6") { context in
      guard let requested = context.upstreamScope else { return .pass }
      guard let granted = context.grant.scope else {
        return context.scopeSelectsOtherResource ? .refuse(.refreshScopeWider) : .pass
      }
      return requested.isWithin(granted) ? .pass : .refuse(.refreshScopeWider)
    }
  }
}

extension Rule where Context == AuthorizationContext {
  /// RFC 6749, section 3.3. Without a scope the upstream grants its default, which may be more than the policy permits to a
  /// client that it does not list. So `scopes.drop` must leave a scope token of such a client for the upstream.
  static var limitedScopeSent: Rule {
    Rule(name: "a scope limits the token of an unlisted client", source: "RFC 6749, section 3.3") { context in
      guard let client = context.client, let allowed = client.allowedScopes, !allowed.isEmpty else { return .pass }
      let acting = client.acting(for: RequestedResource(context.parameters, context.policy).resource)
      let sent = UpstreamScope(context.requestedScope, client: acting, policy: context.policy, appliesDefault: true)
        .scope
      return sent == nil ? .refuse(.scopeNotAllowed) : .pass
    }
  }
}

extension Rule where Context == ReentryContext {
  /// A consent form may omit scope tokens that the user did not select, but may not add any (invariant `I-reentry`). If
  /// no scope was sent upstream, any scope passes: the upstream chooses a default (RFC 6749, section 3.3), which the
  /// form may contain.
  static var reentryScopeNotWidened: Rule {
    Rule(name: "scope is only narrowed", source: "invariant I-reentry") { context in
      guard let sent = context.upstreamScope else { return .pass }
      let tokens = sent.tokens
      for text in context.request.all(.scope) {
        let bytes = text.utf8.span
        var isWider = false
        bytes.forEachPart(separatedBy: .space) { part in
          let token = String(decoding: [UInt8](copying: bytes.extracting(part)), as: UTF8.self)
          isWider = !token.isEmpty && !tokens.contains(token[...])
          return !isWider
        }
        if isWider { return .refuse(.reentryScopeWider) }
      }
      return .pass
    }
  }
}

/// The scope that the gateway sends upstream in place of the scope in a client's request. The gateway removes the
/// tokens of `scopes.drop`, and those that a client which the policy does not list may not have, and uses
/// `scopes.default` if no token is left.
///
/// The pages on which the user decides show this scope. The sealed state and the sealed code contain the scope as the
/// client sent it, without the tokens that it may not have.
struct UpstreamScope {
  /// The scope for the upstream; `nil` to send none.
  let scope: Scope?
  /// True if a scope token of the request is not sent upstream.
  let isNarrowed: Bool
  /// True if the default is sent upstream.
  private let isDefault: Bool
  /// The tokens of `scopes.add`.
  private let added: [String]

  /// Applies the scope rules of the policy.
  /// - Parameters:
  ///   - requested: The scope of the request; `nil` if it has none.
  ///   - client: The client. Its own `drop` and `default` each replace that of the policy's `upstream.scopes`.
  ///   - appliesDefault: True if the default is used when no scope is left. It is false in a refresh, in which an
  ///     omitted scope means the granted scope (RFC 6749, section 6).
  init(_ requested: Scope?, client: Client?, policy: Policy, appliesDefault: Bool) {
    let clientRules = client?.upstream.scopes
    let commonRules = policy.upstream.scopes
    guard clientRules != nil || commonRules != nil else {
      scope = requested
      isNarrowed = false
      isDefault = false
      added = []
      return
    }
    let drop = clientRules?.drop ?? commonRules?.drop ?? []
    let rest = requested?.limited(to: client?.allowedScopes)?.removing(drop)
    isNarrowed = rest?.text.utf8.count != requested?.text.utf8.count
    let rulesWithDefault = clientRules?.hasDefault == true ? clientRules : commonRules
    let defaultScope = rest == nil && appliesDefault ? rulesWithDefault?.defaultScope?.removing(drop) : nil
    isDefault = defaultScope != nil
    added = clientRules?.added ?? commonRules?.added ?? []
    scope = rest ?? defaultScope
  }

  /// The scope to name in a token response in which the upstream names none (RFC 6749, sections 3.3 and 5.1): the one that
  /// was sent upstream, if it may differ from the one that the client requested. `nil` if both are the same, or if none was
  /// sent, so that only the upstream knows the scope. The tokens that a resource or `scopes.add` adds are not part of
  /// it: they concern the upstream alone.
  ///
  /// The sealed scope of a client that the policy does not list is not always the requested one, so its responses always
  /// name it.
  ///
  /// - Parameter client: The client with which this value was created.
  func scopeForResponse(to client: Client) -> Scope? { isNarrowed || isDefault || client.isUnlisted ? scope : nil }

  /// Returns the scope of a sign-in for the upstream, with the scope tokens that the resource and `scopes.add` add.
  func scopeOfSignIn(for resource: Resource?) -> Scope? { scope(for: resource)?.adding(added) ?? Scope(added) }

  /// Returns the scope for the upstream with the scope tokens that the resource adds.
  func scope(for resource: Resource?) -> Scope? {
    guard let added = resource?.upstream.scope else { return scope }
    return scope?.adding(added.list.map(String.init)) ?? added
  }
}

extension Scope {
  /// Returns the scope without these tokens, in the same order; `nil` if none is left.
  fileprivate func removing(_ dropped: Set<String>) -> Scope? { filter { !dropped.contains($0) } }

  /// Returns the tokens that are in `allowed`, in the same order; `nil` if none is. Without a limit, returns the scope.
  func limited(to allowed: Set<String>?) -> Scope? {
    guard let allowed else { return self }
    return filter { allowed.contains($0) }
  }

  /// Returns the scope with the tokens that it lacks of a list, behind its own.
  fileprivate func adding(_ added: [String]) -> Scope? {
    guard !added.isEmpty else { return self }
    let tokens = tokens
    return Scope(parsing: ([text] + added.filter { !tokens.contains($0[...]) }).joined(separator: " "))
  }

  /// Creates a scope of tokens; `nil` if there are none.
  fileprivate init?(_ tokens: [String]) { self.init(parsing: tokens.joined(separator: " ")) }

  private func filter(_ isKept: (String) -> Bool) -> Scope? {
    let tokens = list
    let kept = tokens.filter { isKept(String($0)) }
    return kept.count == tokens.count ? self : Scope(parsing: kept.joined(separator: " "))
  }
}
