import ArgumentParser
import ByteText
import DiskStore
import FoundationEssentials
import Policy
import PolicyFile
import Reactor
import Stores
import Synchronization

/// The report of `proofgate check`, as text, JSON and SARIF.
struct CheckReport: Sendable {
  /// One policy with the result of reading it.
  private struct CheckedPolicy: Sendable {
    let path: String
    let outcome: PolicyFile.Outcome
    /// The findings about the policy, including an error for each valid setting that `serve` does not support, and
    /// about the key file that the policy names.
    var diagnostics: [Diagnostic]

    var hasErrors: Bool { diagnostics.hasErrors }
  }

  private var policies: [CheckedPolicy]
  /// The findings about conflicts between policies.
  private let conflicts: [Diagnostic]
  private let readsSecrets: Bool

  init(paths: [String], _ sources: PolicySources) {
    let check = PolicyFile.check(paths: paths, sources)
    conflicts = check.conflicts
    readsSecrets = sources.readsSecrets
    policies = zip(paths, check.outcomes).map { path, outcome in
      var keyFindings: [Diagnostic] = []
      if sources.readsSecrets, let reference = outcome.sealingKeys {
        do throws(KeySource.Failure) {
          _ = try KeySource.readKeyRing(reference.path, for: outcome.policy)
        } catch {
          keyFindings = error.findings
        }
      }
      return CheckedPolicy(
        path: path, outcome: outcome, diagnostics: outcome.diagnostics + outcome.unsupportedSettings + keyFindings)
    }
  }

  /// Returns the report with the findings of the servers of all policies without errors. Throws
  /// `ExitCode.systemFailure` if the process cannot open connections.
  func askingServers() throws -> CheckReport {
    let result = Mutex(self)
    try MainLoop().run { worker in
      let check = OnlineCheck(poller: worker.poller)
      var report = self
      for index in report.policies.indices where !report.policies[index].hasErrors {
        if let finding = await check.finding(report.policies[index].outcome) {
          report.policies[index].diagnostics.append(finding)
        }
      }
      result.withLock { $0 = report }
      return .success
    }
    return result.withLock { $0 }
  }

  var hasErrors: Bool { policies.contains { $0.hasErrors } || conflicts.hasErrors }

  /// The exit code for the errors; `nil` if there are none.
  var errorExitCode: ExitCode? {
    guard hasErrors else { return nil }
    return findings.errorExitCode
  }

  /// True if every policy meets all points of the profile of RFC 8252, appendix A.
  var meetsProfile: Bool { policies.allSatisfy { $0.outcome.selfCheck.isMet } }

  /// All findings, also those about conflicts between policies.
  var findings: [Diagnostic] { policies.flatMap(\.diagnostics) + conflicts }

  /// Returns the report for people.
  ///
  /// - Parameters:
  ///   - quiet: True to omit notes, excerpts, self-check and summary.
  ///   - standardInput: The content of the policy `-`.
  ///   - usesColor: True for a terminal with colors.
  func text(quiet: Bool, standardInput: [UInt8]? = nil, usesColor: Bool = false) -> String {
    let excerpts = quiet ? nil : SourceExcerpts(findings, standardInput: standardInput)
    let printer = FindingPrinter(usesColor: usesColor, excerpts: excerpts)
    var text = ""
    for policy in policies {
      for diagnostic in policy.diagnostics where !quiet || diagnostic.severity != .note {
        text += printer.text(diagnostic)
      }
      if quiet { continue }
      if let loaded = policy.outcome.policy {
        let selfCheck = policy.outcome.selfCheck
        text += "\(policy.path): RFC 8252, appendix A: \(selfCheck.isMet ? "met" : "not met")\n"
        for item in selfCheck.items { text += "  \(item)\n" }
        text += "\(policy.path): \(CheckReport.description(of: loaded.gateway.store))\n"
        let count = loaded.clients.count
        text += "\(policy.path): policy \(loaded.version) with \(count) client\(count == 1 ? "" : "s")\n"
      }
    }
    for diagnostic in conflicts where !quiet || diagnostic.severity != .note { text += printer.text(diagnostic) }
    if !quiet {
      text += findings.summary + (readsSecrets ? "" : "; secrets, keys and certificates were not read") + "\n"
    }
    return text
  }

  /// Describes the store: its place, and how many families of refresh tokens fit into it.
  private static func description(of store: StoreLocation) -> String {
    switch store {
    case .memory(let size):
      let families = MemoryStore(size: size).usage.first { $0.kind == .family }?.capacity ?? 0
      return "the store is in memory, with room for \(families) families of refresh tokens; a restart forgets which "
        + "codes were redeemed and which families ended"
    case .file(let path, let size):
      return "the store is \(path), with room for \(FileStore.capacity(size: size)) families of refresh tokens"
    case .redis(let settings): return "the store is the Redis server at \(settings.endpointName)"
    }
  }

  func json(quiet: Bool) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    func findings(_ diagnostics: [Diagnostic]) -> [Document.Finding] {
      diagnostics.filter { !quiet || $0.severity != .note }.map(Document.Finding.init)
    }
    let document = Document(
      ok: !hasErrors,
      policies: policies.map { policy in
        Document.Entry(
          file: policy.path, ok: !policy.hasErrors, version: policy.outcome.policy?.version,
          clients: policy.outcome.policy?.clients.count, findings: findings(policy.diagnostics),
          selfCheck: policy.outcome.policy == nil
            ? nil : policy.outcome.selfCheck.items.map { Document.Item(title: $0.title, failure: $0.failure) })
      }, between: findings(conflicts))
    return String(decoding: try encoder.encode(document), as: UTF8.self).visibleJSON
  }

  /// The structure of the JSON report.
  private struct Document: Encodable {
    struct Finding: Encodable {
      let id: String
      let severity: String
      let file: String
      let line: Int
      let column: Int
      let message: String
      let reference: String?

      init(_ diagnostic: Diagnostic) {
        id = diagnostic.id.rawValue
        severity = diagnostic.severity.rawValue
        file = diagnostic.file
        line = diagnostic.line
        column = diagnostic.column
        message = diagnostic.message
        reference = diagnostic.id.reference
      }
    }

    struct Item: Encodable {
      let title: String
      /// The reason why the policy does not meet the point; absent if the policy meets it.
      let failure: String?
    }

    struct Entry: Encodable {
      enum CodingKeys: String, CodingKey {
        case file, ok, version, clients, findings
        case selfCheck = "rfc8252_appendix_a"
      }

      let file: String
      let ok: Bool
      let version: String?
      let clients: Int?
      let findings: [Finding]
      let selfCheck: [Item]?
    }

    let ok: Bool
    let policies: [Entry]
    /// The findings about conflicts between policies.
    let between: [Finding]
  }
}
