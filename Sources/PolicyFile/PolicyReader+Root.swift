internal import ByteText
import Cryptography
import Policy
import YAML

/// The top level of the file. Its sections are not read in the order of the file: a section is read after the sections
/// on which it depends.
struct PolicyRoot: SectionDraft {
  var version: Field?
  var gateway: Field?
  var upstream: Field?
  var enforcement: Field?
  var registration: Field?
  var clientDocuments: Field?
  var clients: Field?
  var resources: Field?
  var routes: Field?

  static let table = SettingTable<PolicyRoot>(
    "policy",
    "A policy of Proofgate in front of a legacy authorization server. docs/policy.md explains every setting.",
    [
      .customReader("version", .constant(1), "The version of this format", adviceIfMissing: "`version: 1`"),
      .customReader(
        "gateway", .section("gateway"), "The settings of the gateway process",
        adviceIfMissing: "a mapping with `origin` and `listeners`"),
      .customReader(
        "upstream", .section("upstream"), "The legacy authorization server",
        adviceIfMissing: "a mapping with `url` and `endpoints`"),
      .customReader(
        "enforcement", .section("enforcement"), "Rules for all clients", default: "the defaults of its settings"),
      .customReader(
        "registration", .section("registration"), "Dynamic client registration (RFC 7591)",
        default: "clients cannot register"),
      .customReader(
        "client_documents", .section("client_documents"), "Clients whose id is the URL of a metadata document",
        default: "no document is fetched"),
      .customReader(
        "clients", .any([.list(.any([.section("client"), .section("include")])), .section("include")]),
        "The clients, and files with more clients", default: "none"),
      .customReader(
        "resources", .list(.section("resource")),
        "The protected resources for which apps may request tokens (RFC 8707); without them, `resource` is ignored",
        default: "none"),
      .customReader(
        "routes", .list(.section("route")), "Limits and header fields of requests that pass, by path", default: "none"),
    ]
  ) { PolicyRoot() }

  /// The parser of the mapping. In each function, `$0` is the policy reader, `$1` the field, and `$2` the draft.
  fileprivate static let section = Section<PolicyRoot>(
    table,
    [
      "version": { $2.version = $1 }, "gateway": { $2.gateway = $1 }, "upstream": { $2.upstream = $1 },
      "enforcement": { $2.enforcement = $1 }, "registration": { $2.registration = $1 },
      "client_documents": { $2.clientDocuments = $1 }, "clients": { $2.clients = $1 },
      "resources": { $2.resources = $1 }, "routes": { $2.routes = $1 },
    ])
}

extension PolicyReader {
  /// Reads the policy and the files that it names. Returns `nil` if there are errors.
  func read(_ path: String) -> Policy? {
    readDocument(path)
    assignConsentOwners()
    lintRememberedConsent()
    // Frees memory before the policy is created, because during a reload the old policy is still in memory.
    clients.freeIndex()
    lintSharing()
    lintAddresses()
    lintEphemeralKey()
    lintUncheckedRequests()
    lintDevicePaths()
    checkRoutePrefixes()
    if !diagnostics.hasErrors { lintRevocation() }
    guard !diagnostics.hasErrors, let gateway, let upstream else { return nil }
    return Policy(
      gateway: gateway, upstream: upstream, enforcement: enforcement, clients: clients.takeClients(),
      resources: resources, registration: registration, clientDocuments: clientDocuments,
      routes: routes.map(\.settings),
      version: version)
  }

  /// Reports settings by which requests bypass the rules, if the policy has a client in enforce mode.
  private func lintUncheckedRequests() {
    guard
      registration != nil || clientDocuments != nil || clients.entries.contains(where: { $0.client?.mode == .enforce })
    else { return }
    if let location = missingPassLocation {
      report(
        .everythingPassed, .warning, location,
        "without `pass`, or with `/` in it, every path of the server is reachable, other OAuth endpoints and consoles too; "
          + "list the prefixes that browsers need, or write `pass: []`")
    }
    if let location = missingCompletionLocation {
      report(
        .completionPaths, .note, location,
        "without `completion_paths` sign-ins complete at the authorization endpoint alone; list the login pages from which "
          + "the server redirects to the app (`proofgate readiness` finds them), or write `completion_paths: []`")
    }
    if let location = openCompletionLocation {
      report(
        .completionPaths, .warning, location,
        "`/` in `completion_paths` lets any page of the server complete a sign-in with a code that an attacker sends it; "
          + "list its login and consent pages")
    }
    if let location = unlistedObservedLocation {
      report(
        .unlistedOAuth, .warning, location,
        "`unlisted_oauth: observe` lets OAuth requests pass to paths that no rule covers; list them in `endpoints` and "
          + "use `reject`")
    }
  }

  private func readDocument(_ path: String) {
    guard let document = document(path) else { return }
    defer { document.freeAll() }
    var root = PolicyRoot()
    guard let fields = read(document.root, PolicyRoot.section, into: &root) else { return }
    requireSettings(of: PolicyRoot.section, in: fields, document.root, named: "the policy")
    if let field = root.version { checkVersion(field) }
    if let field = root.gateway { readGateway(field) }
    if let field = root.upstream { readUpstream(field) }
    if let field = root.enforcement { readEnforcement(field) }
    if let node = pushedAuthorizationNode { lintPushedEndpoint(node, enforcement.defaults.pushedAuthorization) }
    if let field = root.registration { readRegistration(field) }
    if let field = root.clientDocuments { readClientDocuments(field) }
    if let field = root.clients { readClients(field) }
    if let field = root.resources { readResources(field) }
    checkResourceScopes()
    checkResourceNames()
    if let field = root.routes { readRoutes(field) }
  }

  /// Reads and parses one file, or reports the problem.
  ///
  /// - Parameter name: The node with the name of the file, at which an unreadable file is reported; `nil` for the
  ///   policy itself.
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
          message: "policy file \(quoted(path)) \(error.text); \(error.advice)"))
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

  /// The first 12 hexadecimal digits of a hash of the hashes of the files. They are enough to distinguish two policies
  /// on a dashboard.
  private var version: String { String(Hex.encode(sha256(hashes)).prefix(12)) }

  private func checkVersion(_ field: Field) {
    guard let text = text(field), text != "1" else { return }
    error(.invalidValue, field.node, "`version` cannot be \(quoted(text)); this program reads version `1`")
  }
}
