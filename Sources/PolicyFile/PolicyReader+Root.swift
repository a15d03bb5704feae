import Cryptography
import Policy
import YAML

extension PolicyReader {
  /// Reads the policy and everything that it names.
  func read(_ path: String) -> Policy? {
    readDocument(path)
    settleConsent()
    // As little as can be beside the policy: while a reload reads, the old one is there, too.
    clients.closeEntries()
    lintSharing()
    lintAddresses()
    lintEphemeralKey()
    lintPassing()
    if !diagnostics.hasErrors { lintRevocation() }
    guard !diagnostics.hasErrors, let gateway, let upstream else { return nil }
    return Policy(
      gateway: gateway, upstream: upstream, unknownClients: unknownClients, mode: defaults.mode,
      redirects: redirects, unlistedOAuth: unlistedOAuth, clients: clients.takeClients(), version: version)
  }

  /// Says what is a way around a client that is enforced.
  private func lintPassing() {
    guard clients.entries.contains(where: { $0.client?.mode == .enforce }) else { return }
    if let place = everythingPassed {
      report(
        .everythingPassed, .warning, place,
        "without `pass` every path of the server is reachable, other OAuth endpoints and consoles too; list the prefixes "
          + "that browsers need, or write `pass: [/]`")
    }
    if let place = unlistedObserved {
      report(
        .unlistedOAuth, .warning, place,
        "`unlisted_oauth: observe` lets OAuth requests pass to paths that no rule covers; list them in `endpoints` and "
          + "use `reject`")
    }
  }

  private func readDocument(_ path: String) {
    guard let document = document(path) else { return }
    defer { document.forget() }
    var sections: [RootKey: Field] = [:]
    let isMapping = fields(document.root, named: "policy", RootKey.self) { sections[$0] = $1 }
    guard isMapping else { return }

    readVersion(sections[.version], document.root)
    if let field = sections[.gateway] {
      readGateway(field)
    } else {
      missing(RootKey.gateway, document.root, in: "the policy", "a mapping with `origin` and `listeners`")
    }
    if let field = sections[.upstream] {
      readUpstream(field)
    } else {
      missing(RootKey.upstream, document.root, in: "the policy", "a mapping with `url` and `endpoints`")
    }
    if let field = sections[.enforcement] { readEnforcement(field) }
    if let node = pushedNode { lintPushedEndpoint(node, defaults.pushedAuthorization) }
    if let field = sections[.clients] { readClients(field) }
  }

  /// Reads and parses one file, or reports why not.
  ///
  /// - Parameter name: what names the file; a file that cannot be read is reported there.
  func document(_ path: String, namedBy name: YAMLNode? = nil) -> YAMLDocument? {
    files.append(path)
    let bytes: [UInt8]
    do {
      if name == nil, path == PolicySources.standardInputPath, let input = sources.standardInput {
        bytes = input
      } else {
        bytes = try FileSystem.read(path, limit: YAMLLimits().bytes)
      }
    } catch {
      report(
        Diagnostic(
          id: .unreadableFile, severity: .error, file: name?.document.file ?? path, line: name?.mark.line ?? 1,
          column: name?.mark.column ?? 1,
          message: "policy file \(quoted(path)) \(error.text)"))
      return nil
    }
    hashes += sha256(bytes)
    do {
      return try YAMLDocument.parse(bytes, file: path)
    } catch {
      report(
        Diagnostic(
          id: .invalidYAML, severity: .error, file: path, line: error.mark.line, column: error.mark.column,
          message: error.problem.text))
      return nil
    }
  }

  /// The first 12 digits of the hash over the files' hashes: enough to tell two policies apart on a dashboard.
  private var version: String { String(Hex.encode(sha256(hashes)).prefix(12)) }

  private func readVersion(_ field: Field?, _ root: YAMLNode) {
    guard let field else {
      missing(RootKey.version, root, in: "the policy", "`version: 1`")
      return
    }
    guard let text = text(field) else { return }
    if text != "1" {
      error(.invalidValue, field.node, "`version` cannot be \(quoted(text)); this program reads version `1`")
    }
  }
}
