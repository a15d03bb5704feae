public import Cryptography
public import OAuth

/// Clients whose `client_id` is the URL of a metadata document (`client_documents:`;
/// draft-ietf-oauth-client-id-metadata-document).
@dynamicMemberLookup
public struct ClientDocumentSettings: Sendable {
  /// The URLs of documents that the gateway fetches, and the prefixes of such URLs, which end with a slash.
  public var urls: [String] = []
  /// The rules for the clients.
  public var rules = UnlistedClientRules()
  /// The accepted issuers of the certificates of the documents' servers; `nil` for those of the machine.
  public var authorities: CertificateChain?
  /// True to fetch documents from loopback addresses, for tests and demos. Only for a gateway whose own origin is a
  /// loopback address.
  public var permitsLoopback = false

  /// The documents of MCP clients that `known` in `urls` means, with the names of their programs. A URL is listed if the
  /// program or its maker publishes it.
  public static let known = [
    ("Claude", "https://claude.ai/oauth/mcp-oauth-client-metadata"),
    ("Claude Code", "https://claude.ai/oauth/claude-code-client-metadata"),
    ("ChatGPT", "https://chatgpt.com/oauth/client.json"),
    ("Codex", "https://chatgpt.com/oauth/codex/client.json"),
    ("Visual Studio Code", "https://vscode.dev/oauth/client-metadata.json"),
    ("Visual Studio Code Insiders", "https://insiders.vscode.dev/oauth/client-metadata.json"),
    ("opencode", "https://opencode.ai/oauth/opencode/client.json"),
  ]

  /// The maximum number of `urls`. It limits the number of servers from which documents are fetched.
  public static let maximumURLs = 64

  /// Creates the defaults, which permit no client.
  public init() {}

  /// A rule for the clients.
  public subscript<Value>(dynamicMember rule: WritableKeyPath<UnlistedClientRules, Value>) -> Value {
    get { rules[keyPath: rule] }
    set { rules[keyPath: rule] = newValue }
  }
}

extension ClientDocumentSettings {
  /// The settings of `client_documents:`.
  public static let table = SettingTable<ClientDocumentSettings>(
    "client_documents",
    """
    Clients whose `client_id` is the URL of a metadata document (draft-ietf-oauth-client-id-metadata-document): the \
    gateway fetches the document when the client begins a sign-in.
    """,
    [
      .customReader(
        "urls", .list(.text("https URLs, `known`"), allowsSingleValue: true, minimumCount: 1),
        """
        The URLs of documents, without a query, or prefixes of such URLs that end with a slash. Nothing else is fetched. \
        A prefix should be a path that only the owner of the host can fill. `known` means the documents of \
        \(known.map { "\($0.0) (`\($0.1)`)" }.joined(separator: ", ")); a new version of the gateway may know more
        """,
        adviceIfMissing: "the URLs of the documents"),
      .customReader(
        "scopes", .list(.text("scope tokens", pattern: #"^[!#-\[\]-~]+$"#), allowsSingleValue: true, minimumCount: 1),
        """
        The scope tokens that these clients may request; a request for any other is refused, but `offline_access` is left \
        out of it
        """,
        adviceIfMissing: "the scope tokens that these clients may request"),
      .customReader(
        "resources", .list(.text("absolute URIs"), allowsSingleValue: true),
        "The `uri` of each of the `resources` that these clients may request; a request for any other is refused",
        default: "none"),
      .customReader(
        "redirects", .section("unlisted_redirects"),
        "The redirect URIs that these clients may have, in addition to https URIs on the host of their document",
        default: "only https URIs on the host of the document"),
      .customReader(
        "upstream", .section("client_upstream"), "The client of the gateway at the server, for all of these clients",
        adviceIfMissing: "a mapping with `client_id`"),
      .customReader(
        "ca", .text("a path"),
        """
        PEM file with the authorities that may issue the certificates of the documents' servers; all others are \
        untrusted then
        """,
        default: "the file in the environment variable `SSL_CERT_FILE`, or the authorities of the machine"),
      .flag(
        "allow_loopback", \.permitsLoopback,
        "`true`: documents may be on loopback addresses; for tests and demos, with a loopback `gateway.origin` only"),
      .customReader(
        "deny", .section("client_deny"),
        "Clients that are refused; `ids` are URLs, and `hosts` are also those of documents; takes effect with a reload",
        default: "none"),
    ]
  ) { ClientDocumentSettings() }

  /// Returns the URL in a `client_id`; `nil` if the text is no acceptable URL, or if the policy does not list it or
  /// denies it.
  public func url(_ id: String) -> ClientDocumentURL? {
    guard let url = ClientDocumentURL(parsing: id), permits(url), !rules.denied.contains(url) else { return nil }
    return url
  }

  /// Returns true if the policy lists the URL itself, and not only a prefix of it.
  public func lists(_ url: ClientDocumentURL) -> Bool { urls.contains { $0.utf8.elementsEqual(url.text.utf8) } }

  /// A prefix ends with a slash and contains the whole host, so that `https://app.example/` cannot match
  /// `https://app.example.org/`. A URL has no dot segments, so it is below its prefix for every server.
  private func permits(_ url: ClientDocumentURL) -> Bool {
    urls.contains { entry in
      entry.hasSuffix("/") ? url.text.utf8.starts(with: entry.utf8) : url.text.utf8.elementsEqual(entry.utf8)
    }
  }

  /// Returns the hosts of redirect URIs on which ``urls`` has no document; `any` if every host is permitted and a document
  /// of ``known`` is missing.
  public func undocumentedHosts(of redirects: UnlistedRedirects) -> [String] {
    let documented = urls.compactMap { ClientDocumentURL(parsing: $0)?.host }
    let hosts = redirects.hosts.filter { entry in !documented.contains { HostList.contains($0, in: [entry]) } }
    let lacksKnown = !ClientDocumentSettings.known.allSatisfy { urls.contains($0.1) }
    return hosts + (redirects.anyHost && lacksKnown ? ["any"] : [])
  }

  /// Returns the client that the metadata in a document describe; `nil` if the policy does not permit it.
  ///
  /// In addition to the redirect URIs that the policy permits, the client may have https redirect URIs on the host of
  /// the document.
  public func client(_ url: ClientDocumentURL, _ metadata: ClientMetadata) -> Client? {
    var rules = rules
    rules.redirects.hosts.append(url.host)
    return rules.client(ClientID(url.text), metadata)
  }

  /// Returns a client for a request that contains neither an authorization request nor a value that the gateway sealed.
  /// It has no redirect URI, so no authorization request of it can pass.
  public func clientWithoutDocument(_ url: ClientDocumentURL) -> Client {
    rules.undescribedClient(ClientID(url.text))
  }

  /// Returns a client for the rules that need no document: one that has exactly the redirect URI of the request. `nil`
  /// if no document could permit this redirect URI.
  ///
  /// - Parameter redirectURI: The redirect URI of the request; `nil` if the request has none.
  public func clientBeforeDocument(_ url: ClientDocumentURL, redirectURI: RedirectURI?) -> Client? {
    guard let redirectURI else { return clientWithoutDocument(url) }
    let type: ClientMetadata.ApplicationType = if case .https = redirectURI.kind { .web } else { .native }
    return client(url, ClientMetadata(applicationType: type, redirectURIs: [redirectURI]))
  }
}

extension ClientDenyList {
  /// Returns true if the list contains the URL of a document or its host.
  func contains(_ url: ClientDocumentURL) -> Bool {
    ids.contains(url.text) || HostList.contains(url.host, in: hosts)
  }
}
