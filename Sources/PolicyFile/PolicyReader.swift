import Cryptography
import FoundationEssentials
import OAuth
import Policy
import YAML

/// One reading of a policy: walks the nodes, collects every problem, and keeps what only the whole file can answer.
///
/// Each aspect of the format has its file, `PolicyReader+Aspect.swift`. Reading never stops at a problem: a value that
/// cannot be used is reported and its default stands in, so that one run shows everything.
final class PolicyReader {
  let sources: PolicySources
  var environment: [String: String] { sources.environment }
  /// Seconds since 1970: what certificates' times are held against.
  let now = Int64(Date().timeIntervalSince1970)
  /// Who vouches for an upstream where the policy names nobody.
  let systemAuthorities: () -> CertificateChain?
  private(set) var diagnostics: [Diagnostic] = []
  /// What `serve` cannot do yet; kept apart, so that the values can be read all the same.
  var unsupported: [Diagnostic] = []
  /// The files in the order in which they were read, and the hashes of their bytes.
  var files: [String] = []
  var hashes: [UInt8] = []

  var enforcement = PolicyEnforcement()
  /// The settings of a client that sets nothing; `enforcement:` is read first. Clients share the storage of its sets.
  private(set) lazy var clientDefaults: ClientSettings = {
    var settings = ClientSettings()
    settings.enforcement = enforcement.defaults
    return settings
  }()
  /// The first public native client that is only observed.
  var observedNative: ClientID?
  /// Where the policy says that requests of OAuth's pass on other paths.
  var unlistedObserved: SourceLocation?
  /// Where `upstream:` lets everything pass without saying so.
  var everythingPassed: SourceLocation?
  /// Where `enforcement:` says whether requests may be pushed.
  var pushedNode: YAMLNode?
  /// Where `endpoints:` stands.
  var endpointsPlace: SourceLocation?
  var gateway: GatewaySettings?
  /// The addresses that `gateway:` listens on, with their places; the admin listener's where the policy names it.
  var listenerPlaces: [(address: SocketAddress, place: SourceLocation)] = []
  var adminPlace: SourceLocation?
  var upstreamURLPlace: SourceLocation?
  /// Where `gateway:` begins, if it names no sealing keys and its origin is not a loopback host.
  var ephemeralKeyPlace: SourceLocation?
  var upstream: UpstreamSettings?
  var clients = ClientCollection()
  var secrets: [String: Secret?] = [:]
  /// The key file that `sealing_keys` names.
  var sealingKeys: FileReference?
  /// Keys that a misspelt one probably stands for: they are not reported as missing too.
  var suggested: Set<String> = []

  init(_ sources: PolicySources, systemAuthorities: @escaping () -> CertificateChain? = SystemAuthorities.load) {
    self.sources = sources
    self.systemAuthorities = systemAuthorities
  }

  func error(_ id: DiagnosticID, _ node: YAMLNode, _ message: String) {
    report(id, .error, node, message)
  }

  func warn(_ id: DiagnosticID, _ node: YAMLNode, _ message: String) {
    report(id, .warning, node, message)
  }

  func note(_ id: DiagnosticID, _ node: YAMLNode, _ message: String) {
    report(id, .note, node, message)
  }

  func report(_ id: DiagnosticID, _ severity: Diagnostic.Severity, _ node: YAMLNode, _ message: String) {
    report(id, severity, SourceLocation(node), message)
  }

  func report(_ id: DiagnosticID, _ severity: Diagnostic.Severity, _ place: SourceLocation, _ message: String) {
    diagnostics.append(Self.diagnostic(id, severity, place, message))
  }

  /// Records a setting that the format has and `serve` cannot honour yet. Running without it would not be what the
  /// operator asked for, so `check` and `serve` stop there.
  func reportUnsupported(_ field: Field, _ message: String) {
    unsupported.append(Self.diagnostic(.notYetSupported, .error, SourceLocation(field.key), message))
  }

  func report(_ diagnostic: Diagnostic) {
    diagnostics.append(diagnostic)
  }

  static func diagnostic(
    _ id: DiagnosticID, _ severity: Diagnostic.Severity, _ place: SourceLocation, _ message: String
  ) -> Diagnostic {
    Diagnostic(
      id: id, severity: severity, file: place.file, line: place.mark.line, column: place.mark.column, message: message)
  }

  /// Findings in the order of the files, and within one from top to bottom.
  func sorted(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
    var order: [String: Int] = [:]
    for (position, file) in files.enumerated() where order[file] == nil { order[file] = position }
    let keyed = diagnostics.enumerated().map { (order[$1.file] ?? -1, $1.line, $1.column, $0) }
    return keyed.sorted { $0 < $1 }.map { diagnostics[$0.3] }
  }
}
