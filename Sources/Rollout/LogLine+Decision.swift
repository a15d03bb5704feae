internal import JSON

/// Reads the decision log.
extension LogLine {
  private static let findingPrefix = "would-reject:"

  static func decision(_ line: [UInt8]) -> LogLine {
    guard let members = JSONValue.members(of: line), let event = members["event"]?.text,
      let time = SeenRequest.limited(members["time"]?.text)
    else { return .unreadable }
    guard event == "decision", let client = SeenRequest.limited(members["client"]?.text) else { return .other }
    // A form of the server in a known sign-in. Other requests that are observed have no step.
    if members["mode"]?.text == "observe", members["step"]?.text == "login" { return .other }
    let endpoint: SeenRequest.Endpoint =
      switch members["endpoint"]?.text {
      case "authorization", "pushed_authorization": .authorization
      case "token": .token
      default: .other
      }
    var seen = SeenRequest(time: time, client: client, endpoint: endpoint)
    seen.completionPath = SeenRequest.limited(members["path"]?.text)
    seen.redirectURI = SeenRequest.limited(members["redirect_uri"]?.text)
    seen.responseType = SeenRequest.limited(members["response_type"]?.text)
    seen.grant = SeenRequest.limited(members["grant"]?.text)
    seen.authentication = SeenRequest.limited(members["client_authentication"]?.text)
    seen.pkce = SeenRequest.limited(members["pkce"]?.text)
    // A scope that was cut ends with a part of a token.
    seen.scope = members["scope"]?.text.flatMap { $0.hasSuffix("...") ? nil : $0 }
    seen.request = SeenRequest.limited(members["request"]?.text)
    seen.mode = SeenRequest.limited(members["mode"]?.text)
    seen.peer = SeenRequest.limited(members["peer"]?.text) ?? ""
    if case .integer(let status) = members["upstream_status"] { seen.upstreamStatus = Int(exactly: status) }
    let decision = members["decision"]?.text
    seen.isRejected = decision == "reject"
    seen.isNotObservable = decision == "not_observable"
    if decision == "reject" || decision == "would_reject", let rule = members["rule"]?.text { seen.rules.append(rule) }
    if case .array(let findings) = members["findings"] {
      for finding in findings.lazy.compactMap(\.text) where finding.hasPrefix(findingPrefix) {
        let rule = String(finding.dropFirst(findingPrefix.count))
        if !seen.rules.contains(rule) { seen.rules.append(rule) }
      }
    }
    return .request(seen)
  }
}
