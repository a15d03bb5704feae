import OAuth
import Policy
import YAML

extension PolicyReader {
  /// Reads `schemes` of a client: the word of a rule, or a list of schemes that need not satisfy it.
  func readSchemes(_ field: Field, _ draft: ClientDraft) {
    guard field.node.kind == .sequence else {
      if case .text(let word)? = value(field, .choice(SchemeRule.allCases.map(\.rawValue))),
        let rule = SchemeRule(rawValue: word)
      {
        draft.settings.enforcement.schemes = rule
      }
      return
    }
    draft.settings.listedSchemes = privateSchemes(field, warns: true)
    reportEmpty(field)
  }

  /// Reads the valid redirect URIs of a client and reports the others.
  func redirectURIs(_ field: Field) -> [ClientDraft.Located<RedirectURI>] {
    var uris: [ClientDraft.Located<RedirectURI>] = []
    uris.reserveCapacity(field.node.kind == .sequence ? field.node.count : 0)
    for item in list(field) {
      guard let text = text(item) else { continue }
      guard !text.hasPrefix("urn:ietf:wg:oauth:2.0:oob") else {
        error(
          .outOfBand, item.node,
          "\(quoted(text)) makes the user copy the code by hand; use a loopback, https or private-use redirect URI")
        continue
      }
      do {
        let uri = try RedirectURI(parsing: text)
        guard !uris.contains(where: { $0.value.text == text }) else {
          error(.duplicateValue, item.node, "redirect URI \(quoted(text)) occurs twice; keep one")
          continue
        }
        uris.append((uri, item.node))
      } catch RedirectURIError.cleartext {
        error(
          .plaintextRedirect, item.node,
          "\(quoted(text)) would carry codes in the clear; use https, http is for `127.0.0.1` and `[::1]`")
      } catch {
        self.error(.invalidRedirectURI, item.node, "\(quoted(text)) is not a redirect URI: \(error)")
      }
    }
    return uris
  }

  /// Reports problems of the redirect URIs of one client, and records these URIs for `lintSharing()`.
  func lintRedirectURIs(_ draft: ClientDraft) {
    for uri in draft.redirectURIs {
      switch uri.value.kind {
      case .privateUse(let scheme): lintPrivateUse(uri, scheme: scheme, draft)
      // The URI of the Windows Web Authentication Broker (`msapp:`).
      case .windowsBroker: lintKind(.privateUse, uri, draft)
      case .https: lintHTTPS(uri, draft)
      case .loopback: lintLoopback(uri, draft)
      case .localhost: lintLocalhost(uri, draft)
      }
    }
    recordRedirectURIs(draft)
  }

  private func isNative(_ draft: ClientDraft) -> Bool { draft.settings.application == .native }

  /// Reports a redirect URI of a native app if `enforcement.redirects` does not contain its kind, and a private-use
  /// redirect URI of any other application.
  private func lintKind(_ kind: RedirectKind, _ uri: ClientDraft.Located<RedirectURI>, _ draft: ClientDraft) {
    if isNative(draft), !enforcement.redirects.contains(kind) {
      error(
        .redirectKindOff, uri.node,
        "\(draft.title) has \(quoted(uri.value.text)), but `enforcement` lists no `\(kind.rawValue)` in `redirects`; "
          + "add it there")
    }
    if kind == .privateUse, !isNative(draft) {
      error(
        .schemeNotNative, uri.node,
        "\(draft.title) has \(quoted(uri.value.text)), which only a native app can receive; use https or "
          + "`application: native`")
    }
  }

  private func lintPrivateUse(_ uri: ClientDraft.Located<RedirectURI>, scheme: String, _ draft: ClientDraft) {
    lintKind(.privateUse, uri, draft)
    if draft.settings.listedSchemes.contains(scheme) {
      // `readSchemes(_:_:)` has reported a scheme that another app may use, too.
    } else if let problem = uri.value.schemeProblem(draft.rules.schemes == .strict ? .strict : .minimum) {
      error(.schemeNotReversed, uri.node, "\(draft.title) cannot use scheme \(quoted(scheme)): \(problem)")
    } else if draft.rules.schemes == .minimum, uri.value.schemeProblem(.strict) != nil {
      warn(
        .schemeNotReversed, uri.node,
        "\(draft.title) uses scheme \(quoted(scheme)), which is not a reversed domain name, so others may use it too")
    }
    for note in uri.value.schemeNotes {
      switch note {
      case .authority:
        warn(
          .schemeAuthority, uri.node,
          "\(quoted(uri.value.text)) has two slashes, which make the next part a host; write `\(scheme):/...` with one "
            + "slash")
      case .rootPath:
        warn(
          .noPath, uri.node,
          "\(quoted(uri.value.text)) has only the root path; give every authorization server a path of its own")
      case .tooLongForWindows:
        lintLength(uri, scheme: scheme, draft)
      }
    }
  }

  /// Reports a scheme that is too long for an app of the Universal Windows Platform: with a warning if the client is
  /// for this platform, and with a note if its platform is unknown. Other platforms have no such limit.
  private func lintLength(_ uri: ClientDraft.Located<RedirectURI>, scheme: String, _ draft: ClientDraft) {
    guard draft.settings.platform == nil || draft.settings.platform == .uwp else { return }
    report(
      .schemeTooLong, draft.settings.platform == .uwp ? .warning : .note, uri.node,
      "scheme \(quoted(scheme)) has \(scheme.utf8.count) characters, and apps of the Universal Windows Platform can have "
        + "39; shorten it"
        + (draft.settings.platform == .uwp ? "" : ", or set `platform`"))
  }

  private func lintHTTPS(_ uri: ClientDraft.Located<RedirectURI>, _ draft: ClientDraft) {
    lintKind(.claimedHTTPS, uri, draft)
    if isNative(draft), uri.value.path.isEmpty || uri.value.path == "/" {
      warn(
        .noPath, uri.node,
        "\(quoted(uri.value.text)) claims the whole host; give every authorization server a path of its own")
    }
  }

  private func lintLoopback(_ uri: ClientDraft.Located<RedirectURI>, _ draft: ClientDraft) {
    lintKind(.loopback, uri, draft)
    guard lintLoopbackOwner(uri, draft) else { return }
    if uri.value.path.isEmpty {
      note(
        .loopbackNoPath, uri.node,
        "\(quoted(uri.value.text)) has no path; a path such as `/callback` keeps other local requests apart")
    }
  }

  private func lintLocalhost(_ uri: ClientDraft.Located<RedirectURI>, _ draft: ClientDraft) {
    lintKind(.loopback, uri, draft)
    guard lintLoopbackOwner(uri, draft) else { return }
    switch draft.rules.localhost {
    case .reject:
      error(
        .localhostRedirect, uri.node,
        "\(quoted(uri.value.text)) is refused by `localhost: reject`; use `127.0.0.1` and `[::1]`")
    case .exact, .portless:
      if draft.rules.localhost == .portless, uri.value.kind == .localhost(port: nil) { break }
      warn(
        .localhostRedirect, uri.node,
        "\(quoted(uri.value.text)) depends on name resolution and matches on this port only; use `127.0.0.1` and "
          + "`[::1]`")
    case .anyPort:
      break
    }
  }

  /// Reports a loopback redirect URI of a client that is confidential or not a native app. Returns true if there is no
  /// problem.
  private func lintLoopbackOwner(_ uri: ClientDraft.Located<RedirectURI>, _ draft: ClientDraft) -> Bool {
    guard draft.kind == .confidential || !isNative(draft) else { return true }
    let problem = draft.kind == .confidential ? "confidential" : "not a native app"
    error(
      .loopbackNotNative, uri.node,
      "\(draft.title) is \(problem) and has the loopback redirect URI \(quoted(uri.value.text)); use https, or "
        + "`type: public` and `application: native`")
    return false
  }

  /// Records the redirect URIs of a client for the comparison with those of other clients.
  private func recordRedirectURIs(_ draft: ClientDraft) {
    guard let id = draft.id else { return }
    for uri in draft.redirectURIs {
      switch uri.value.kind {
      case .loopback, .localhost:
        clients.add(
          ClientCollection.RegisteredLoopbackURI(
            client: id, address: uri.value.address, isObserved: draft.rules.mode == .observe,
            location: SourceLocation(uri.node)))
        continue
      case .privateUse, .https, .windowsBroker: break
      }
      clients.add(
        ClientCollection.RegisteredURI(
          client: id, text: uri.value.text, scheme: uri.value.privateUseScheme, location: SourceLocation(uri.node)))
    }
  }

  /// Reports schemes and redirect URIs that two clients share. The operating system cannot distinguish two apps with
  /// the same scheme or redirect URI, so the app of one client may get the codes of the other. Apps often have the same
  /// loopback redirect URI. This is usually no problem, because each app listens on a port of its own. So a shared
  /// loopback URI is reported only if one of the clients is observed and the other is enforced.
  func lintSharing() {
    let uriOwners = clients.earlierOwners(comparing: \.text)
    let schemeOwners = clients.earlierOwners(comparing: \.scheme)
    for position in Set(uriOwners.keys).union(schemeOwners.keys).sorted() {
      let uri = clients.registeredURIs[position]
      let title = "client \(quoted(uri.client.rawValue))"
      if let owner = uriOwners[position] {
        report(
          .sharedRedirectURI, .warning, uri.location,
          "\(title) and client \(quoted(owner.rawValue)) both have redirect URI \(quoted(uri.text)); give each its own")
      } else if let scheme = uri.scheme, let owner = schemeOwners[position] {
        report(
          .sharedScheme, .warning, uri.location,
          "\(title) and client \(quoted(owner.rawValue)) both have scheme \(quoted(scheme)), which a device gives to one "
            + "app; use a scheme per app")
      }
    }
    for (uri, earlierClient) in clients.loopbackURIsOfBothModes() {
      let (mode, earlierMode) = uri.isObserved ? ("observed", "enforced") : ("enforced", "observed")
      report(
        .sharedRedirectURI, .warning, uri.location,
        "the \(mode) client \(quoted(uri.client.rawValue)) and the \(earlierMode) client "
          + "\(quoted(earlierClient.rawValue)) both "
          + "have redirect URI \(quoted(uri.address)) on any port, so an app of one can get the codes of the other; give "
          + "each a path of its own")
    }
  }
}
