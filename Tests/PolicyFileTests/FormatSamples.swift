import Policy
import Time

@testable import PolicyFile

/// A plain setting with a value that is not its default, and the policy with this value.
struct FormatSample {
  let name: String
  let policy: Policy?
  /// True if the policy has the value.
  let arrives: Bool
  let findings: [String]
}

/// Policies that differ from a valid one in one plain setting, for each plain setting of each table.
enum FormatSamples {
  /// The lines of each mapping, by the name of its table.
  private typealias Lines = [String: [String]]

  private static let base: Lines = [
    "gateway": [
      "origin: https://id.example.com", "sealing_keys: { file: keys }", "store: redis://127.0.0.1:6379/0",
      "trusted_proxies: 10.0.0.0/8",
    ],
    "access_log": ["to: stdout"],
    "listener": ["address: 127.0.0.1:8443"],
    "tls": ["certificate: gateway.pem", "private_key: gateway.key", "client_ca: client-ca.pem"],
    "upstream": ["url: http://127.0.0.1:9000", "max_connections: 1000000", "callback_risk: accepted"],
    "health_check": ["path: /health", "interval: 1h", "timeout: 10ms"],
    "endpoints": ["authorization: /authorize", "token: /token", "pushed_authorization: /par"],
    "enforcement": ["raw_refresh_until: never"],
    "client": [
      "id: a", "type: confidential", "application: browser", "redirect_uris: ['https://a.example.com/cb']",
    ],
    "route": ["prefix: /files"],
    "client_upstream": ["client_secret: { env: LEGACY_SECRET }"],
  ]

  /// The value is the first second after the day.
  private static let leapDay = (text: "2028-02-29", value: SettingValue.date(1_835_481_600))

  static let all = Result { try everything() }

  private static func everything() throws -> [FormatSample] {
    try samples(GatewaySettings.table) { $0.gateway } + samples(LimitSettings.table) { $0.gateway.limits }
      + samples(ListenerSettings.table) { $0.gateway.listeners.first }
      + samples(ListenerTLS.table) { $0.gateway.listeners.first?.tls }
      + samples(Branding.table) { $0.gateway.branding }
      + samples(AccessLogSettings.table) { $0.gateway.accessLog }
      + samples(StrictTransport.table) { $0.gateway.strictTransport }
      + samples(UpstreamSettings.table) { $0.upstream } + samples(HealthCheckSettings.table) { $0.upstream.healthCheck }
      + samples(EndpointPaths.table) { $0.upstream.endpoints }
      + samples(PolicyEnforcement.table) { $0.enforcement }
      + samples(ClientSettings.table) { $0.clients.values.first?.settings }
      + samples(RouteSettings.table) { $0.routes.first } + samples(RegistrationSettings.table) { $0.registration }
      + samples(UnlistedRedirects.table) { $0.registration?.redirects }
      + samples(ClientDenyList.table) { $0.registration?.denied }
      + samples(UpstreamClient.table) { $0.clients.values.first?.upstream }
  }

  private static func samples<Root>(
    _ table: SettingTable<Root>, _ part: (Policy) -> Root?
  ) throws -> [FormatSample] {
    let defaults = table.defaults()
    return try table.settings.filter(\.isPlain).flatMap { setting in
      try values(setting.form).filter { $0 != setting.value(in: defaults) }.map { value in
        var lines = base
        lines[table.name, default: []].removeAll { $0.hasPrefix(setting.key + ":") }
        let written = if case .date = value { leapDay.text } else { FormatText.text(value, setting.form) }
        let line = "\(setting.key): \(written)"
        lines[table.name, default: []].append(line)
        let outcome = try PolicyValuesTests.load(text(lines))
        let expected: SettingValue? =
          switch (value, setting.form) {
          case (.word, .word(_, or: .date)): .word
          case (.word, _): setting.value(in: defaults) == nil ? nil : .number(0)
          default: value
          }
        let found = outcome.policy.flatMap(part).map { setting.value(in: $0) }
        return FormatSample(
          name: "\(table.name): \(line)", policy: outcome.policy, arrives: found == .some(expected),
          findings: outcome.diagnostics.filter { $0.severity == .error }.map(\.message))
      }
    }
  }

  /// Values of a form: each of its words, or its bounds.
  private static func values(_ form: SettingForm) -> [SettingValue] {
    switch form {
    case .flag: [.flag(true), .flag(false)]
    case .choice(let words): words.map { .text($0) }
    // `S256` cannot be omitted.
    case .choices(let words): [.texts(words), .texts(Array(words.prefix(1)))]
    case .number(let range), .size(let range): [.number(range.lowerBound), .number(range.upperBound)]
    case .duration(let range): [.duration(range.lowerBound), .duration(range.upperBound)]
    case .seconds(let range, _): [.seconds(range.lowerBound), .seconds(range.upperBound)]
    case .date: [leapDay.value]
    case .text: [.text("Some text")]
    case .paths: [.texts(["/one", "/two"])]
    case .word(_, let form): [.word] + values(form)
    case .list, .section, .mapping, .any, .constant: []
    }
  }

  private static func text(_ lines: Lines) -> String {
    func mapping(_ name: String, _ indentation: Int) -> String {
      (lines[name] ?? []).map { String(repeating: " ", count: indentation) + $0 + "\n" }.joined()
    }
    func part(_ name: String, _ key: String, _ indentation: Int) -> String {
      let text = mapping(name, indentation + 2)
      return text.isEmpty ? "" : String(repeating: " ", count: indentation) + "\(key):\n" + text
    }
    let registers = ["registration", "unlisted_redirects", "client_deny"].contains { lines[$0] != nil }
    let registration =
      registers
      ? "registration:\n  scopes: [mail]\n  upstream: { client_id: legacy }\n" + mapping("registration", 2)
        + "  redirects:\n    schemes: any\n" + mapping("unlisted_redirects", 4) + part("client_deny", "deny", 2) : ""
    // The base alone would contradict some values of `pass` and `endpoints`.
    let routes = (lines["route"] ?? []).count > 1 ? "routes:\n  -\n" + mapping("route", 4) : ""
    return "version: 1\n" + registration + "gateway:\n" + mapping("gateway", 2) + "  listeners:\n    -\n"
      + mapping("listener", 6)
      + part("tls", "tls", 6) + part("limits", "limits", 2) + part("branding", "branding", 2)
      + part("access_log", "access_log", 2)
      + part("strict_transport_security", "strict_transport_security", 2) + "upstream:\n" + mapping("upstream", 2)
      + part("endpoints", "endpoints", 2) + part("health_check", "health_check", 2)
      + part("enforcement", "enforcement", 0) + "clients:\n  -\n"
      + mapping("client", 4) + part("client_upstream", "upstream", 4) + routes
  }
}
