import Cryptography
import OAuth
public import Policy
import YAML

/// The reader of policy files (format version 1, see `docs/policy.md`).
public enum PolicyFile {
  /// The result of reading a policy.
  public struct Outcome: Sendable {
    /// The policy; `nil` if and only if `diagnostics` has an error.
    public let policy: Policy?
    /// All findings, in the order of the files, from top to bottom.
    public let diagnostics: [Diagnostic]
    /// An error for each valid setting that `serve` does not support yet. Such an error does not make `policy` `nil`.
    public let unsupportedSettings: [Diagnostic]
    /// The key file that the policy names, even if the policy has errors.
    public let sealingKeys: FileReference?
    /// The place of `gateway.issuer`, or of `gateway.origin` if it is the issuer; `nil` if the policy has neither.
    let issuerPlace: Diagnostic.Place?
    /// The result of the check against the five points of RFC 8252, appendix A.
    public let selfCheck: SelfCheck
    /// The policy file and the files that it includes, in the order of reading.
    public let files: [String]
    /// The files of secrets, keys, certificates and the logo that were read, or could not be read.
    public let contentFiles: [String]

    /// True if the policy has no errors and `serve` supports every setting of it.
    public var isServable: Bool { policy != nil && unsupportedSettings.isEmpty }

    /// Returns a finding about the issuer that the policy itself does not show; `nil` if the policy has no issuer.
    public func issuerFinding(
      _ id: DiagnosticID, _ severity: Diagnostic.Severity, _ message: String
    ) -> Diagnostic? {
      issuerPlace.map {
        Diagnostic(id: id, severity: severity, file: $0.file, line: $0.line, column: $0.column, message: message)
      }
    }
  }

  /// The result of reading several policies and comparing them.
  public struct Check: Sendable {
    /// The results, one per path, in the order of the paths.
    public let outcomes: [Outcome]
    /// Findings about redirect URIs that occur in two policies with different issuers.
    public let conflicts: [Diagnostic]
  }

  /// Reads a policy, the files that it includes and the secrets that it names.
  ///
  /// - Parameter environment: The variables that `{ env: NAME }` reads.
  public static func load(path: String, environment: [String: String]) -> Outcome {
    outcome(of: PolicyReader(PolicySources(environment: environment)), path)
  }

  /// Reads a policy and the files that it includes from these sources.
  public static func load(path: String, _ sources: PolicySources) -> Outcome {
    outcome(of: PolicyReader(sources), path)
  }

  /// Reads a policy as if the machine trusted exactly these authorities, or none if `systemAuthorities` is `nil`. For
  /// tests.
  static func load(path: String, environment: [String: String], systemAuthorities: CertificateChain?) -> Outcome {
    outcome(of: PolicyReader(PolicySources(environment: environment)) { systemAuthorities }, path)
  }

  /// Reads several policies and compares them. A redirect URI must belong to only one authorization server (RFC 8252,
  /// section 8.10).
  public static func check(paths: [String], _ sources: PolicySources) -> Check {
    var outcomes: [Outcome] = []
    var conflicts: [Diagnostic] = []
    var owners: [String: (path: String, issuer: String, uri: ClientCollection.RegisteredURI)] = [:]
    for path in paths {
      let reader = PolicyReader(sources)
      outcomes.append(outcome(of: reader, path))
      guard let issuer = reader.gateway?.issuer else { continue }
      // If several clients of this policy have the same URI, the finding names the last of them.
      let uris = Dictionary(reader.clients.registeredURIs.lazy.map { ($0.text, $0) }) { $1 }.values
      for uri in uris.sorted(by: { ($0.location.mark, $0.text) < ($1.location.mark, $1.text) }) {
        guard let owner = owners[uri.text] else {
          owners[uri.text] = (path, issuer, uri)
          continue
        }
        guard owner.issuer != issuer else { continue }
        conflicts.append(
          PolicyReader.diagnostic(
            .sharedRedirectURI, .warning, uri.location,
            "client \(quoted(uri.client.rawValue)) has redirect URI \(quoted(uri.text)) here and with issuer "
              + "\(quoted(owner.issuer)) in \(quoted(owner.path)); an app needs one per authorization server"))
      }
    }
    return Check(outcomes: outcomes, conflicts: conflicts)
  }

  private static func outcome(of reader: PolicyReader, _ path: String) -> Outcome {
    let policy = reader.read(path)
    let diagnostics = reader.sorted(reader.diagnostics)
    let selfCheck = SelfCheck(
      redirects: reader.enforcement.redirects, mode: reader.enforcement.defaults.mode,
      unknownClients: reader.enforcement.unknownClients,
      nativeClientInObserveMode: reader.nativeClientInObserveMode,
      errors: Set(diagnostics.lazy.filter { $0.severity == .error }.map(\.id)))
    return Outcome(
      policy: policy, diagnostics: diagnostics, unsupportedSettings: reader.sorted(reader.unsupported),
      sealingKeys: reader.sealingKeys, issuerPlace: reader.issuerPlace,
      selfCheck: selfCheck, files: reader.files, contentFiles: reader.contentFiles)
  }
}
