import Policy
import Rollout

/// The `upstream:` block for the observed server, and a starter policy around it.
package struct UpstreamBlock: Sendable {
  /// The preset that fits; `nil` for none.
  package let preset: ServerPreset?
  private let report: ProbeReport
  private var seen: Observations { report.observations }

  package init(_ report: ProbeReport) {
    self.report = report
    preset = PresetMatch.preset(for: report.observations)
  }

  /// The block as YAML.
  package var text: String { lines.map { $0 + "\n" }.joined() }

  /// A policy that observes, with the block.
  package var policy: String {
    """
    # A first policy, written by `proofgate probe` from the answers of the server. It observes: no request is refused or
    # changed. Review each line, above all those with TODO.
    # Next: `proofgate check`, `proofgate serve`, then `proofgate learn` with the log.
    version: 1

    gateway:
      # TODO: the public URL of the server, which is now the URL of the gateway.
      origin: http://127.0.0.1:8080
      listeners:
        - address: "127.0.0.1:8080"

    \(text)
    \(StarterPolicy.enforcement.joined(separator: "\n"))

    clients: []

    """
  }

  private var lines: [String] {
    var lines = ["upstream:"]
    if let preset { lines.append("  kind: \(preset.kind)") }
    lines.append("  url: \(YAMLText.quoted(report.options.target.origin.description))")
    // The default depends on the scheme (`UpstreamSettings.effectiveHost`).
    switch (seen.host, report.options.target.origin.scheme) {
    case (.publicOnly?, .https): lines.append("  host: origin")
    case (.upstreamOnly?, .http): lines.append("  host: upstream")
    default: break
    }
    if let authorities = report.authorities { lines += ["  tls:", "    ca: \(YAMLText.quoted(authorities))"] }
    lines += endpointLines
    lines += authenticationLines + pkceLines
    if case .exactly(let limit)? = seen.stateLimit, (14..<UpstreamSettings.defaultStateLimit).contains(limit) {
      lines.append("  state_limit: \(limit)")
    }
    let pages = seen.pagePaths.map { YAMLText.quoted($0) }
    lines += [
      "  # TODO: all path prefixes that browsers and apps need, such as the login page and its files. In observe mode, every",
      "  # path passes, and the log names those that are missing here.",
    ]
    if !pages.isEmpty { lines.append("  # The probe was redirected to \(pages.joined(separator: ", ")).") }
    lines.append("  pass: [\(pages.joined(separator: ", "))]")
    // A listed page can complete a stolen code that it repeats, so a guess is only a comment.
    if preset == nil {
      lines += [
        "  # TODO: the pages from which the server redirects to the app with a code. `proofgate readiness` shows them from",
        "  # the log of observe mode. None is needed if the authorization endpoint itself does it.",
        "  # completion_paths: [\(pages.isEmpty ? "/login" : pages.joined(separator: ", "))]",
      ]
    }
    return lines
  }

  private var endpointLines: [String] {
    let preset = preset?.settings.endpoints
    let rows: [(String, Observations.Endpoint?, [String]?)] = [
      ("authorization", seen.authorization, preset?.authorization), ("token", seen.token, preset?.token),
      ("revocation", seen.revocation, preset?.revocation),
      ("introspection", seen.introspection, preset?.introspection),
      ("pushed_authorization", seen.pushedAuthorization, preset?.pushedAuthorization),
      ("device_authorization", seen.deviceAuthorization, preset?.deviceAuthorization),
      ("registration", seen.registration, preset?.closed),
    ]
    var lines: [String] = []
    for (name, endpoint, known) in rows {
      if let endpoint {
        guard known?.contains(endpoint.path) != true else { continue }
        let note = endpoint.isConfirmed || endpoint.source == .document ? "" : "  # TODO: it did not answer like one."
        lines.append("    \(name): \(YAMLText.quoted(endpoint.path))\(note)")
      } else if self.preset == nil, name == "authorization" || name == "token" {
        lines.append("    # TODO: not found; the path is a guess.")
        lines.append("    \(name): \(name == "token" ? "/token" : "/authorize")")
      }
    }
    return lines.isEmpty ? [] : ["  endpoints:"] + lines
  }

  private var authenticationLines: [String] {
    let presetValue = preset?.settings.authentication
    if seen.basic == .accepted { return presetValue == .post ? ["  authentication: basic"] : [] }
    if seen.post == .accepted { return presetValue == .post ? [] : ["  authentication: post"] }
    if seen.basicRaw == .accepted { return ["  authentication: basic_raw"] }
    guard preset == nil, report.options.clientSecret != nil || report.options.clientID == nil else { return [] }
    return ["  # TODO: not tested: `basic` (default), `basic_raw` or `post`.", "  authentication: basic"]
  }

  private var pkceLines: [String] {
    switch seen.signIn?.verifier {
    case .enforced?: return ["  pkce: forward"]
    case .probablyEnforced?:
      return ["  # TODO: probably verified by the server; `strip` if sign-ins fail.", "  pkce: forward"]
    case .ignored?, nil:
      if seen.acceptsChallenge {
        let todo = seen.signIn?.verifier == nil
        return [
          "  # A request with a challenge is answered like one without: a server that does not verify it loses nothing."
        ] + (todo ? ["  # TODO: `strip` if the server refuses the code verifier after a sign-in."] : []) + [
          "  pkce: forward"
        ]
      }
      guard seen.signIn?.verifier == nil, seen.checksMethod == true || seen.announcedMethods?.contains("S256") == true
      else { return [] }
      return [
        "  # TODO: the server seems to know PKCE; `forward` if `proofgate probe --sign-in` shows that it verifies it."
      ]
    }
  }

}
