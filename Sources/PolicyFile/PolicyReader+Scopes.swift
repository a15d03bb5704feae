import OAuth
import Policy
import YAML

/// The lists of `scopes:`, each `nil` if the mapping does not have it.
struct ScopeLists: SectionDraft {
  typealias Token = (text: String, node: YAMLNode)

  var drop: [Token]?
  var defaults: [Token]?
  var added: [Token]?

  var rules: ScopeRules {
    ScopeRules(
      drop: drop.map { Set($0.map(\.text)) }, default: defaults?.map(\.text), adding: added?.map(\.text))
  }

  static let table = SettingTable<ScopeLists>(
    "scopes", "The difference between the scopes that apps send and those that the server knows.",
    [
      .customReader(
        "drop", tokens,
        """
        Scope tokens that the gateway removes from authorization requests, pushed ones, refreshes and client \
        credentials before it forwards them
        """,
        default: "none"),
      .customReader(
        "default", tokens,
        """
        Scope tokens that go to the server if a request has no scope, or only dropped tokens. A refresh never gets \
        them: without a scope it keeps the granted one (RFC 6749, section 6)
        """,
        default: "none"),
      .customReader(
        "add", tokens,
        """
        Scope tokens that the gateway adds to each sign-in, also to one without scope, for servers that refuse requests \
        without them, such as `openid`. Not added to refreshes and client credentials
        """,
        default: "none"),
    ]
  ) { ScopeLists() }

  private static let tokens = SettingForm.list(
    .text("scope tokens", pattern: ScopeRules.tokenPattern), allowsSingleValue: true)

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<ScopeLists>(
    table,
    [
      "drop": { $2.drop = $0.scopeTokens($1) }, "default": { $2.defaults = $0.scopeTokens($1) },
      "add": { $2.added = $0.scopeTokens($1) },
    ])
}

extension PolicyReader {
  /// Reads `scopes:` of `upstream:`, or of the `upstream:` of a client.
  ///
  /// - Parameter serverRules: If the field belongs to a client, the rules of the top-level `upstream:`. Each list of
  ///   the client replaces the list of the same name in these rules.
  func scopes(_ field: Field, serverRules: ScopeRules? = nil) -> ScopeRules {
    var lists = ScopeLists()
    read(field.node, ScopeLists.section, into: &lists)
    lintScopes(lists, serverRules: serverRules)
    return lists.rules
  }

  /// Reports a scope token that is in `drop` and in `default` or `add`: the gateway would remove the token from requests,
  /// but send it to the server itself. If a client lacks one of the lists, that of `serverRules` is checked
  /// instead.
  private func lintScopes(_ lists: ScopeLists, serverRules: ScopeRules?) {
    let drop = lists.drop.map { Set($0.map(\.text)) } ?? serverRules?.drop ?? []
    for token in lists.defaults ?? [] where drop.contains(token.text) {
      error(.conflict, token.node, "scope \(quoted(token.text)) is in `drop` and in `default`; remove it from one")
    }
    for token in lists.added ?? [] where drop.contains(token.text) {
      error(.conflict, token.node, "scope \(quoted(token.text)) is in `drop` and in `add`; remove it from one")
    }
    guard lists.defaults == nil, let serverDefaults = serverRules?.defaultScope?.tokens else { return }
    for token in lists.drop ?? [] where serverDefaults.contains(token.text[...]) {
      error(
        .conflict, token.node,
        "scope \(quoted(token.text)) is in `drop` and in the server's `default`; remove it, or add a `default` for the "
          + "client")
    }
  }

  /// Records the scope tokens of `default` and `add`. `checkResourceScopes` compares them with `resources:`, which is read later.
  func recordDefaultScope(of rules: ScopeRules?, _ field: Field?) {
    guard let field, let rules else { return }
    let tokens = (rules.defaultScope?.list.map(String.init) ?? []) + (rules.added ?? [])
    for token in tokens where defaultScopes[token] == nil { defaultScopes[token] = SourceLocation(field.node) }
  }

  /// Reports the scope tokens that belong to a resource, and that requests would get which do not name it: those of
  /// clients that the policy does not list, and those of each `default`.
  func checkResourceScopes() {
    let table = ResourceTable(resources)
    for (scope, node) in unlistedScopes where table.reserves(scope: scope, inRequestFor: nil) {
      error(
        .conflict, node,
        "`upstream.scopes` of a resource adds \(quoted(scope)) to requests for the resource; remove it from `scopes`, "
          + "so that clients get it only with the resource")
    }
    for resource in resources {
      for token in resource.upstream.scope?.text.split(separator: " ") ?? [] {
        let scope = String(token)
        guard table.reserves(scope: scope, inRequestFor: nil), let location = defaultScopes.removeValue(forKey: scope)
        else { continue }
        report(.conflict, .error, location, defaultMessage(scope))
      }
    }
    for (scope, uri, node) in resourceDefaultScopes where table.reserves(scope: scope, inRequestFor: table[uri.text]) {
      error(.conflict, node, defaultMessage(scope))
    }
  }

  private func defaultMessage(_ scope: String) -> String {
    "`upstream.scopes` of a resource adds \(quoted(scope)) to requests for the resource; remove it from `default` and "
      + "`add`, so that other requests do not get it"
  }

  /// Reports the scope tokens of unlisted clients that are in `drop`, so that the server never gets them.
  ///
  /// - Parameter subject: The mapping with these rules.
  func lintDroppedScopes(_ rules: UnlistedClientRules, _ field: Field?, of subject: String) {
    guard let field, let drop = rules.upstream.scopes?.drop ?? upstream?.scopes?.drop else { return }
    let dropped = rules.scopes.filter(drop.contains)
    guard let first = dropped.first else { return }
    // The upstream client of a resource may have a `drop` of its own.
    if dropped.count == rules.scopes.count, rules.resources.isEmpty {
      error(
        .conflict, field.node,
        "all `scopes` of `\(subject)` are in `drop`, so each authorization request of these clients is refused; add a "
          + "scope that the server gets, or remove one from `drop`")
    } else {
      note(
        .droppedScope, field.node,
        "scope \(quoted(first)) is in `drop`, so no client of `\(subject)` gets it, and a request for it alone is "
          + "refused; keep it only for apps that add it to other scopes")
    }
  }

  /// Reads a list of different scope tokens.
  func scopeTokens(_ field: Field) -> [ScopeLists.Token] {
    var tokens: [ScopeLists.Token] = []
    for item in list(field, allowsSingleValue: true) {
      guard let text = text(item) else { continue }
      guard Scope(parsing: text)?.tokens.count == 1 else {
        error(
          .invalidValue, item.node,
          "`\(field.name)` cannot hold \(quoted(text)); use one scope token an item, without spaces, `\"` and `\\`")
        continue
      }
      guard !tokens.contains(where: { $0.text == text }) else {
        error(.duplicateValue, item.node, "\(quoted(text)) occurs twice in `\(field.name)`; keep one")
        continue
      }
      tokens.append((text, item.node))
    }
    return tokens
  }
}
