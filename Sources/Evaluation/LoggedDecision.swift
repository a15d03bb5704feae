import ByteText
internal import JSON

/// A line of the decision log. Its texts are visible (`String.visible`): clients have chosen some of them, and the line may
/// be forged.
public struct LoggedDecision: Sendable, Encodable {
  let time: String
  let endpoint: String
  let decision: String
  let request: String?
  let flow: String?
  let transaction: String?
  let family: String?
  let trace: String?
  let client: String?
  let rule: String?
  let mode: String?
  let step: String?
  let grant: String?
  let redirect: String?
  let path: String?
  let peer: String?
  let policy: String?
  let status: Int?
  let upstreamStatus: Int?
  let findings: [String]
  /// The redirect URI without query, fragment and loopback port; `malformed` for any other text.
  let redirectURI: String?
  let responseType: String?
  let authentication: String?
  let pkce: String?
  let scope: String?

  enum CodingKeys: String, CodingKey {
    case time, endpoint, decision, request, flow, transaction, family, trace, client, rule, mode, step, grant, redirect
    case path, peer, policy, status, findings
    case upstreamStatus = "upstream_status"
    case redirectURI = "redirect_uri"
    case responseType = "response_type"
    case authentication = "client_authentication"
    case pkce, scope
  }

  /// Reads a line; `nil` for a line about another event, and for a text that is not a line of the log.
  public init?(parsing line: [UInt8]) {
    guard let members = JSONValue.members(of: line), members["event"]?.text == "decision" else { return nil }
    func text(_ key: CodingKeys) -> String? { members[key.rawValue]?.text?.visible }
    guard let time = text(.time), let endpoint = text(.endpoint), let decision = text(.decision) else { return nil }
    self.time = time
    self.endpoint = endpoint
    self.decision = decision
    func number(_ key: CodingKeys) -> Int? {
      guard case .integer(let value) = members[key.rawValue] else { return nil }
      return Int(exactly: value)
    }
    request = text(.request)
    flow = text(.flow)
    transaction = text(.transaction)
    family = text(.family)
    trace = text(.trace)
    client = text(.client)
    rule = text(.rule)
    mode = text(.mode)
    step = text(.step)
    grant = text(.grant)
    redirect = text(.redirect)
    path = text(.path)
    peer = text(.peer)
    policy = text(.policy)
    status = number(.status)
    upstreamStatus = number(.upstreamStatus)
    redirectURI = text(.redirectURI)
    responseType = text(.responseType)
    authentication = text(.authentication)
    pkce = text(.pkce)
    scope = text(.scope)
    findings =
      if case .array(let values) = members["findings"] { values.compactMap { $0.text?.visible } } else { [] }
  }

  /// Returns true if the id is that of the request, its flow, transaction or family, or its trace.
  public func has(id: String) -> Bool { [request, flow, transaction, family, trace].contains(id) }

  /// Returns the id in a text from an error page or an error response: the fragment `request=ID` of an `error_uri`, or
  /// the whole text.
  public static func id(in text: String) -> String {
    let mark = "#request="
    guard let range = text.firstRange(of: mark) else { return text }
    return String(text[range.upperBound...])
  }
}
