/// A policy in observe mode with the clients of logs. Its comments say for each client how often it was seen, and the
/// problems that its developer should solve.
///
/// The policy is text with one entry in each line, so that a finding about a line can be turned into a comment
/// (`reject`).
public struct StarterPolicy: Sendable {
  /// A line of the policy.
  struct Line: Sendable {
    var text: String
    /// The index of the client and of its redirect URI to which the line belongs.
    var client: Int?
    var redirect: Int?
  }

  /// The URL of the server, as text of the command line.
  let upstream: String?
  let traffic: Traffic
  /// The listed clients: those that the server has accepted in front of all others, the most frequent first.
  let clients: [LearnedClient]
  private var clientProblems: [Int: String] = [:]
  private var redirectProblems: [Int: [Int: String]] = [:]
  private(set) var lines: [Line] = []

  /// Creates a policy.
  ///
  /// - Parameter upstream: The URL of the server; `nil` if it is not known.
  public init(_ traffic: Traffic, upstream: String?) {
    self.traffic = traffic
    self.upstream = upstream
    clients = traffic.clients.values
      .sorted { ($0.isProven ? 0 : 1, $1.all.requests, $0.id) < ($1.isProven ? 0 : 1, $0.all.requests, $1.id) }
      .map(LearnedClient.init)
    lines = rendered()
  }

  /// The policy as YAML.
  public var text: String { lines.map { $0.text + "\n" }.joined() }

  /// The number of clients in the policy, without those that are comments.
  public var clientCount: Int { clients.count - clientProblems.count }

  /// The number of clients and redirect URIs that are comments, because a policy cannot contain them.
  public var rejectedCount: Int { clientProblems.count + redirectProblems.values.reduce(0) { $0 + $1.count } }

  /// Turns the redirect URIs or clients in these lines (the first line is 1) into comments with the reasons. Returns
  /// false if a line belongs to no client, or if nothing changes.
  public mutating func reject(_ problems: [(line: Int, reason: String)]) -> Bool {
    var changed = false
    for (number, reason) in problems {
      guard lines.indices.contains(number - 1), let client = lines[number - 1].client else { continue }
      if let redirect = lines[number - 1].redirect {
        changed = redirectProblems[client, default: [:]].updateValue(reason, forKey: redirect) == nil || changed
      } else {
        changed = clientProblems.updateValue(reason, forKey: client) == nil || changed
      }
    }
    if changed { lines = rendered() }
    return changed
  }

  private func rendered() -> [Line] {
    var lines = header.map { Line(text: $0) }
    if clientCount == 0 { lines.append(Line(text: "clients: []")) } else { lines.append(Line(text: "clients:")) }
    for (index, client) in clients.enumerated() {
      lines.append(Line(text: ""))
      let problem = clientProblems[index]
      if let problem { lines.append(Line(text: "  # Not in the policy: \(YAMLText.quoted(problem))")) }
      for line in client.lines(without: redirectProblems[index] ?? [:]) {
        guard problem != nil else {
          lines.append(Line(text: line.text, client: index, redirect: line.redirect))
          continue
        }
        let text = line.text.drop { $0 == " " }
        lines.append(Line(text: text.hasPrefix("#") ? "  \(text)" : "  # \(line.text)"))
      }
    }
    return lines
  }

  private var header: [String] {
    let authorization = traffic.authorizationPaths.sorted.first?.text
    let token = traffic.tokenPaths.sorted.first?.text
    return [
      "# A first policy, written by `proofgate learn` from \(traffic.requestLines) requests. It observes: no request is",
      "# refused or changed. Review each line, above all those with TODO; the log does not prove who sent a request.",
      "# Next: `proofgate check`, then `proofgate serve`, then `proofgate readiness` with the new log.",
      "version: 1",
      "",
      "gateway:",
      "  # TODO: the public URL of the server, which is now the URL of the gateway.",
      "  origin: http://127.0.0.1:8080",
      "  listeners:",
      "    - address: \"127.0.0.1:8080\"",
      "",
      "upstream:",
      upstream == nil ? "  # TODO: the address at which the gateway reaches the server." : nil,
      "  url: \(YAMLText.quoted(upstream ?? "http://127.0.0.1:9000"))",
      "  endpoints:",
      authorization == nil ? "    # TODO: the paths of the server; a decision log does not contain them." : nil,
      "    authorization: \(YAMLText.quoted(authorization ?? "/authorize"))",
      "    token: \(YAMLText.quoted(token ?? "/token"))",
    ].compactMap(\.self) + completion + [
      "  # TODO: all path prefixes that browsers and apps need, such as the login page and its files. In observe mode, every",
      "  # path passes, and the log names those that are missing here.",
      "  pass: []",
      "",
    ] + StarterPolicy.enforcement + [""]
  }

  /// The lines with `completion_paths`.
  private var completion: [String] {
    let paths = traffic.completionPrefixes
    guard !paths.isEmpty else {
      return [
        "  # TODO: `completion_paths`, if the server sends codes from other paths, such as its login page. The log of observe",
        "  # mode shows them; `proofgate readiness` lists them.",
      ]
    }
    return [
      "  # The paths from which the server has sent codes. TODO: keep its login and consent pages only.",
      "  completion_paths: [\(paths.map(YAMLText.quoted).joined(separator: ", "))]",
    ]
  }

  /// True if a policy can list the path: a log may contain any text.
  static func canList(_ path: String) -> Bool {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    let isPlain = path.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/-._~".utf8.contains(byte)
      }
    }
    return isPlain && path.hasPrefix("/") && segments.dropFirst().dropLast().allSatisfy { !$0.isEmpty }
      && !segments.contains(".") && !segments.contains("..") && segments.dropFirst().first != ".proofgate"
  }

  /// The block `enforcement` of a policy that observes, with the setting that `mode: enforce` requires.
  public static let enforcement = [
    "enforcement:",
    "  mode: observe",
    "  unknown_clients: observe",
    "  # A client in `mode: enforce` also needs `raw_refresh_until`: a date, until which its users stay signed in with the",
    "  # refresh tokens that they have now, or `never`.",
  ]
}
