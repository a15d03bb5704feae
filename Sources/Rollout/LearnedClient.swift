internal import OAuth

/// An entry of `clients` in a first policy.
struct LearnedClient: Sendable {
  let traffic: ClientTraffic
  /// The redirect URIs that a policy can contain, the most frequent first.
  private let redirects: [(text: String, count: Int)]

  init(_ traffic: ClientTraffic) {
    self.traffic = traffic
    redirects = traffic.redirectURIs.sorted.filter { $0.text != "malformed" && !$0.text.hasSuffix("...") }
  }

  private var kinds: [RedirectURI.Kind] {
    redirects.compactMap { (try? RedirectURI(parsing: $0.text))?.kind }
  }

  /// True if a redirect URI is one of a native app: a private-use scheme or a loopback address.
  private var isNative: Bool {
    kinds.contains { kind in
      if case .https = kind { false } else { true }
    }
  }

  private var hasCredentials: Bool {
    ["basic", "post", "assertion"].contains { traffic.authentication[$0] > 0 }
  }

  private var isConfidential: Bool { !isNative && hasCredentials && traffic.authentication["none"] == 0 }

  private var application: String {
    if isNative { return "native" }
    return isConfidential || kinds.isEmpty ? "web" : "browser"
  }

  /// The grants of the entry. A client that signs in may also refresh, even if no refresh is in the log yet: the first one
  /// comes when the first access token expires.
  private var grants: [String] {
    let known = ["authorization_code", "refresh_token", "client_credentials"]
    let signsIn = traffic.authorizationRequests > 0 || traffic.grants["authorization_code"] > 0
    return known.filter { traffic.grants[$0] > 0 || signsIn && $0 != "client_credentials" }
  }

  /// The settings of a native app at the server once it is enforced, which no log contains; `nil` for other clients.
  ///
  /// The gateway drops a secret that the app sends, because each copy of the app has it. If the server requires one, the
  /// gateway has to send it in its place.
  private var upstreamSettings: String? {
    guard isNative else { return nil }
    let methods = ["basic", "post"].filter { traffic.authentication[$0] > 0 }
    let method = methods.max { traffic.authentication[$0] < traffic.authentication[$1] }
    let secret = method.map { ", client_secret: { file: TODO }, authentication: \($0)" }
    return "{ redirect_uri: callback\(secret ?? "") }"
  }

  /// Returns the lines of the entry, with the index of the redirect URI in a line.
  ///
  /// - Parameter problems: The reasons for which redirect URIs are only in comments.
  func lines(without problems: [Int: String]) -> [(text: String, redirect: Int?)] {
    var lines: [(text: String, redirect: Int?)] = comments.map { ("  # \($0)", nil) }
    func add(_ text: String) { lines.append((text, nil)) }
    add("  - id: \(YAMLText.quoted(traffic.id))")
    add("    type: \(isConfidential ? "confidential" : "public")\(typeComment)")
    add("    application: \(application)")
    if !grants.isEmpty { add("    grants: [\(grants.joined(separator: ", "))]") }
    if let upstreamSettings {
      add("    # TODO: remove the `#` before `mode: enforce`. The gateway's callback must be registered at the server.")
      if hasCredentials {
        add("    # The server gets the app's secret today, then that of this file. Without one, it refuses all users.")
      }
      add("    # upstream: \(upstreamSettings)")
    }
    guard !redirects.isEmpty else { return lines }
    add(problems.count == redirects.count ? "    redirect_uris: []" : "    redirect_uris:")
    for (index, redirect) in redirects.enumerated() {
      let text = YAMLText.quoted(redirect.text)
      if let problem = problems[index] {
        add("      # TODO: cannot be listed, \(YAMLText.quoted(problem))")
        add("      # - \(text)  # \(redirect.count) requests")
      } else {
        lines.append(("      - \(text)  # \(redirect.count) requests", index))
      }
    }
    return lines
  }

  private var typeComment: String {
    if isNative { return hasCredentials ? "  # an app cannot keep the secret that it sends" : "" }
    if traffic.authentication.counts.isEmpty { return "  # TODO: a guess; no token request shows its credentials" }
    return "  # TODO: a guess, from the client authentication"
  }

  private var comments: [String] {
    func list(_ tally: Tally) -> String {
      tally.sorted.prefix(20).map { "\(YAMLText.quoted($0.text)) (\($0.count))" }.joined(separator: ", ")
        + (tally.counts.count > 20 || tally.omitted > 0 ? ", and others" : "")
    }
    var comments = [
      "Seen \(traffic.all.requests) times from \(YAMLText.quoted(traffic.all.first)) to "
        + "\(YAMLText.quoted(traffic.all.last)): "
        + "\(traffic.authorizationRequests) authorization and \(traffic.tokenRequests) token requests."
    ]
    for (name, tally) in [
      ("Scopes", traffic.scopes), ("Grants", traffic.grants), ("Client authentication", traffic.authentication),
      ("PKCE", traffic.pkce),
    ] where !tally.counts.isEmpty {
      comments.append("\(name): \(list(tally)).")
    }
    return comments + advice
  }

  /// Problems that should be solved before the client is enforced.
  private var advice: [String] {
    var advice: [String] = []
    func add(_ count: Int, _ text: String) { if count > 0 { advice.append("TODO: \(text) (\(count) requests).") } }
    add(traffic.pkce["none"], "the app sends no PKCE; `proofgate rules pkce-required`")
    add(traffic.pkce["plain"], "the app sends PKCE with the method `plain`; use `S256`")
    add(traffic.pkce["other"], "the app sends an unknown PKCE method; use `S256`")
    for (type, count) in traffic.responseTypes.sorted where type != "code" {
      add(count, "the app requests response type \(YAMLText.quoted(type)); use `code`")
    }
    add(
      traffic.redirectURIs["malformed"],
      "redirect URIs are malformed, or use http with a host that is not loopback; use https or the app's scheme")
    for (text, count) in traffic.malformedRedirectURIs.sorted { add(count, "redirect URI \(YAMLText.quoted(text))") }
    for redirect in redirects where (try? RedirectURI(parsing: redirect.text))?.isLocalhost == true {
      add(redirect.count, "\(YAMLText.quoted(redirect.text)) has the name `localhost`; use `127.0.0.1` or `[::1]`")
    }
    for (grant, count) in traffic.grants.sorted where !["authorization_code", "refresh_token"].contains(grant) {
      add(count, "the app uses the grant \(YAMLText.quoted(grant)); check whether it may")
    }
    if isNative {
      add(
        traffic.authentication["basic"] + traffic.authentication["post"],
        "the app sends a secret, so `upstream` needs it; remove it from the app only after the client is enforced")
    }
    if traffic.isInDecisionLog, traffic.authorizationRequests > 0, traffic.tokenRequests == 0 {
      advice.append("TODO: no token request with this id was seen in the log; is the id in use?")
    } else if !traffic.isProven, traffic.tokenRequests > 0 {
      advice.append("TODO: the server accepted no token request with this id; is the id in use?")
    }
    add(traffic.redirectURIs.omitted, "redirect URIs beyond the first 50, or beyond 16 KiB, are not listed")
    return advice
  }
}
