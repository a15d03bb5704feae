import Cryptography
import FoundationEssentials
import OAuth
import Policy
import Time
import YAML

/// Reads one policy. The reader keeps the findings so far, and the values for checks that compare several sections.
///
/// Each part of the format has a file `PolicyReader+Part.swift`. Reading does not stop at a problem: the reader reports
/// an invalid value and continues with the default, so that one run shows all problems. Methods with `lint` in their
/// names check values that have been read, and do not change these values.
final class PolicyReader {
  let sources: PolicySources
  var environment: [String: String] { sources.environment }
  /// The current time, for the check of certificates.
  let now = UnixTime(seconds: Int64(Date().timeIntervalSince1970))
  /// Returns the authorities that the machine trusts, which verify an upstream without `ca` and a Redis server without
  /// `store_ca`; `nil` if the machine has none.
  let systemAuthorities: () -> CertificateChain?
  private(set) var diagnostics: [Diagnostic] = []
  /// An error for each setting that `serve` does not support yet. These errors are not in `diagnostics`, because they
  /// do not prevent the policy from being created.
  var unsupported: [Diagnostic] = []
  /// The files in the order of reading.
  var files: [String] = []
  /// The files of secrets, keys, certificates and the logo, in the order of reading.
  var contentFiles: [String] = []
  /// The hashes of the files, one after the other.
  var hashes: [UInt8] = []

  var enforcement = PolicyEnforcement()
  /// The settings of a client whose entry has no settings. They are computed at their first use, which is after
  /// `enforcement:` has been read. All clients share the memory of the sets in them.
  private(set) lazy var clientDefaults: ClientSettings = {
    var settings = ClientSettings()
    settings.enforcement = enforcement.defaults
    return settings
  }()
  /// The first native client in observe mode.
  var nativeClientInObserveMode: ClientID?
  /// The location of `unlisted_oauth: observe`.
  var unlistedObservedLocation: SourceLocation?
  /// True if `enforcement:` has a `mode` or `raw_refresh_until` that cannot be read.
  var hasInvalidRefreshDefaults = false
  /// The location of `upstream:` if it has no `pass`, so that the gateway forwards requests for every path.
  var missingPassLocation: SourceLocation?
  /// The location of `upstream` if it has no `completion_paths` and needs it, and of a `completion_paths` with every path.
  var (missingCompletionLocation, openCompletionLocation): (SourceLocation?, SourceLocation?)
  /// The value of `pushed_authorization` in `enforcement:`.
  var pushedAuthorizationNode: YAMLNode?
  /// The location of `endpoints:`.
  var endpointsLocation: SourceLocation?
  var gateway: GatewaySettings?
  /// The addresses of `listeners:`, with their locations.
  var listenerLocations: [(address: ListenerAddress, location: SourceLocation)] = []
  /// The location of `admin:` if its value is an address.
  var adminLocation: SourceLocation?
  /// The location of the `url` of `upstream:`.
  var upstreamURLLocation: SourceLocation?
  /// The location of `gateway:` if it has no `sealing_keys` and `replicas` is 1.
  var ephemeralKeyLocation: SourceLocation?
  var upstream: UpstreamSettings?
  var registration: RegistrationSettings?
  var clientDocuments: ClientDocumentSettings?
  var clients = ClientCollection()
  /// The location of `consent_remembered` in `enforcement:`; `nil` if it is not set, or 0.
  var rememberedLocation: SourceLocation?
  var resources: [ResourceSettings] = []
  /// The routes, with the locations of their prefixes.
  var routes: [(settings: RouteSettings, location: SourceLocation)] = []
  /// The names of resources that `registration:` and `client_documents:` contain.
  var resourceNames: [(name: String, node: YAMLNode)] = []
  /// The scope tokens that unlisted clients may request, with their locations.
  var unlistedScopes: [(scope: String, node: YAMLNode)] = []
  /// The scope tokens of each `scopes.default` that applies to requests without a resource, with the first location.
  var defaultScopes: [String: SourceLocation] = [:]
  /// The scope tokens of `scopes.default` in the upstream clients of resources.
  var resourceDefaultScopes: [(scope: String, resource: ResourceURI, node: YAMLNode)] = []
  /// The secrets by the paths of their files; `nil` for a file that the reader has reported as unreadable.
  var secrets: [String: Secret?] = [:]
  /// The key file that `sealing_keys` names.
  var sealingKeys: FileReference?
  /// The place of the setting from which the issuer comes.
  var issuerPlace: Diagnostic.Place?
  /// The keys that the reader has suggested in messages about unknown keys. The reader does not also report them as
  /// missing. Emptied at the beginning of each client.
  var suggestedKeys: Set<String> = []

  init(_ sources: PolicySources, systemAuthorities: @escaping () -> CertificateChain? = SystemTrustStore.load) {
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

  func report(_ id: DiagnosticID, _ severity: Diagnostic.Severity, _ location: SourceLocation, _ message: String) {
    diagnostics.append(Self.diagnostic(id, severity, location, message))
  }

  /// Reports a setting of the format that `serve` does not support yet. `check` and `serve` then fail, because the
  /// gateway would not do what the operator configured.
  func reportUnsupported(_ field: Field, _ message: String) {
    unsupported.append(Self.diagnostic(.notYetSupported, .error, SourceLocation(field.key), message))
  }

  func report(_ diagnostic: Diagnostic) {
    diagnostics.append(diagnostic)
  }

  static func diagnostic(
    _ id: DiagnosticID, _ severity: Diagnostic.Severity, _ location: SourceLocation, _ message: String
  ) -> Diagnostic {
    Diagnostic(
      id: id, severity: severity, file: location.file, line: location.mark.line, column: location.mark.column,
      message: message)
  }

  /// Returns the findings in the order of the files, and within a file from top to bottom.
  func sorted(_ diagnostics: [Diagnostic]) -> [Diagnostic] {
    var order: [String: Int] = [:]
    for (position, file) in files.enumerated() where order[file] == nil { order[file] = position }
    let keyed = diagnostics.enumerated().map { (order[$1.file] ?? -1, $1.line, $1.column, $0) }
    return keyed.sorted { $0 < $1 }.map { diagnostics[$0.3] }
  }
}
