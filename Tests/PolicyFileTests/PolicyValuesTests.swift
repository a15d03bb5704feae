import Cryptography
import OAuth
import Policy
import PolicyFile
import Testing
import Time

@Suite("Values of a policy file")
struct PolicyValuesTests {
  @Test("The store is in memory, 128 MiB by default, and its size can be set")
  func storeSize() throws {
    for (text, size) in [
      ("", 128 << 20), ("  store: memory\n", 128 << 20), ("  store: { memory: 160MiB }\n", 160 << 20),
    ] {
      let policy = FindingCase.base.replacing("  sealing_keys:", with: text + "  sealing_keys:")
      guard case .memory(let found) = try #require(try PolicyFolder.load(policy).policy).gateway.store else {
        Issue.record("the store is not in memory")
        return
      }
      #expect(found == size)
    }
  }

  @Test("The file of a store is relative to the policy, and its default size is 256 MiB")
  func storeFile() throws {
    for (text, size) in [
      ("  store: { file: state/state.db }\n", 256 << 20), ("  store: { file: state/state.db, size: 2GiB }\n", 2 << 30),
    ] {
      let policy = FindingCase.base.replacing("  sealing_keys:", with: text + "  sealing_keys:")
      guard case .file(let path, let found) = try #require(try PolicyFolder.load(policy).policy).gateway.store else {
        Issue.record("the store is not in a file")
        return
      }
      #expect(path.hasSuffix("/state/state.db"))
      #expect(found == size)
    }
  }

  @Test("Every setting of gateway and upstream reaches the policy")
  func gatewayAndUpstream() throws {
    let policy = try #require(try Self.load(Self.complete).policy)
    let gateway = policy.gateway
    #expect(gateway.origin == Origin(scheme: .https, host: "id.example.com", port: 8443))
    #expect(gateway.issuer == "https://id.example.com:8443/tenant/")
    #expect(gateway.listeners.map(\.address.description) == ["0.0.0.0:8080", "unix:/run/proofgate.sock", "[::1]:8443"])
    #expect(gateway.listeners.map(\.proxyProtocol) == [true, false, false])
    var unixSocket = UnixSocketSettings()
    unixSocket.owner = FileOwner("proofgate:www-data")
    unixSocket.mode = 0o666
    unixSocket.isLocal = true
    #expect(gateway.listeners.map(\.unixSocket) == [UnixSocketSettings(), unixSocket, UnixSocketSettings()])
    let tls = try #require(gateway.listeners.last?.tls)
    #expect(tls.certificates.map(\.chain.hostNames.first) == ["gw.example", "other.example"])
    #expect(tls.minimumVersion == .v13)
    #expect(tls.ciphers == [.tls13AES128, .rsaAES128])
    #expect(tls.clientAuthorities?.count == 1)
    #expect(tls.clientCertificate == .request)
    #expect(tls.handshakeTimeout == 3_000)
    var syslog = SyslogSettings(path: "/dev/log")
    (syslog.facility, syslog.severity) = (.local3, .notice)
    var accessLog = AccessLogSettings()
    (accessLog.destination, accessLog.fields, accessLog.sample) = (.syslog(syslog), [.time, .status], 10)
    #expect(gateway.accessLog == accessLog)
    #expect(syslog.priority == 19 * 8 + 5)
    #expect(gateway.strictTransport == StrictTransport(maxAge: 86_400, includesSubdomains: true))
    #expect(gateway.strictTransport?.fieldValue == "max-age=86400; includeSubDomains")
    #expect(gateway.admin == nil)
    #expect(!gateway.http2)
    #expect(gateway.halfClose == .serve)
    #expect(gateway.tcpKeepalive == 30_000 && gateway.tcpUserTimeout == 20_000)
    #expect(gateway.workers == 2)
    #expect(gateway.replicas == 3)
    #expect(gateway.sealingKeys?.path.hasSuffix("/keys") == true)
    #expect(gateway.logSpool?.hasSuffix("/lines.spool") == true)
    if case .redis(let redis) = gateway.store {
      #expect(redis.endpoint == .server(SocketAddress(host: "127.0.0.1", port: 6379)))
    } else {
      Issue.record("the store is not redis")
    }
    #expect(gateway.trustedProxies.map(\.prefixLength) == [104, 8, 128, 128])
    #expect(gateway.trustedProxies.last?.network == AddressRange.unixSockets.network)
    #expect(gateway.drainDelay == 5_000)
    #expect(gateway.drainTimeout == 60_000)
    #expect(gateway.branding.name == "Example")
    #expect(gateway.branding.supportURL == "https://example.com/help")

    let upstream = policy.upstream
    #expect(upstream.origin.description == "https://legacy.example.com")
    #expect(upstream.host == .name("id.example.com:8443"))
    #expect(upstream.endpoints.authorization == ["/authorize", "/v1/authorize"])
    #expect(upstream.endpoints.token == ["/token"])
    #expect(upstream.endpoints.revocation == ["/revoke"])
    #expect(upstream.endpoints.introspection == ["/introspect"])
    #expect(upstream.endpoints.pushedAuthorization == ["/par"])
    #expect(upstream.endpoints.deviceAuthorization == ["/device"])
    #expect(upstream.endpoints.closed == ["/register"])
    #expect(upstream.callback == .atCallback)
    #expect(upstream.passPrefixes == ["/login", "/static/"])
    #expect(policy.unlistedOAuth == .observe)
    #expect(upstream.notEndpoints == ["/token_key", "/token/*"])
    #expect(upstream.completionPaths == ["/login"])
    #expect(upstream.endpoints.metadata == ["/.well-known/openid-configuration"])
    #expect(policy.gateway.metadata == .mirrored)
    #expect(policy.gateway.metadataLifetime == 300)
    #expect(policy.gateway.supportedScopes == ["profile", "mail"])
    #expect(policy.gateway.corsOrigins.map(\.description) == ["https://app.example.com"])
    #expect(upstream.stateLimit == 1_024)
    #expect(upstream.codeLifetime == 120)
    #expect(upstream.crossSiteLogin && upstream.earlyHints && upstream.forwardsTrailers)
    #expect(upstream.usesPKCE)
    #expect(upstream.scopes?.drop == ["openid", "offline_access"])
    #expect(upstream.scopes?.defaultScope?.text == "basic mail")
    let web = try #require(policy.clients[ClientID("web")]).upstream
    #expect(web.scopes?.drop == [])
    #expect(web.scopes?.hasDefault == true)
    #expect(web.scopes?.defaultScope?.text == "profile")
    #expect(upstream.parameters == ["audience", "tenant"])
    #expect(upstream.responseParameters == ["realmId", "accounts-server"])
    #expect(upstream.errors.words == ["OAuthException": .invalidGrant, "190": .invalidClient])
    #expect(upstream.errors.byStatus == [400: .invalidRequest])
    #expect(upstream.maxConnections == 64)
    #expect(upstream.connectTimeout == 250)
    #expect(upstream.responseTimeout == 120_000)
    #expect(upstream.tcpKeepalive == 300_000 && upstream.tcpUserTimeout == 40_000)
    #expect(upstream.upgrades == ["websocket"])
    #expect(upstream.strippedHeaders == ["x-badge", "x-sso2-*"])
    #expect(upstream.keptHeaders == ["iv-lang"])
    #expect(upstream.tls?.serverName == "inner.example")
    #expect(upstream.tls?.authorities.count == 1)
    #expect(upstream.tls?.certificate?.chain.hostNames == ["client.example"])
    #expect(upstream.tls?.minimumVersion == .v13)
  }

  @Test("A Unix socket and the name in the certificate of its server reach the policy")
  func unixSocket() throws {
    let upstream = try #require(try Self.load(Self.onUnixSocket).policy).upstream
    #expect(upstream.unixSocket == "/run/legacy.sock")
    #expect(upstream.url == "unix:/run/legacy.sock")
    #expect(upstream.origin == Origin(scheme: .https, host: "legacy.example.com"))
    #expect(upstream.tls?.serverName == "legacy.example.com")
  }

  @Test("The words and hosts of `host` reach the policy")
  func upstreamHost() throws {
    let values: [(String, UpstreamHost)] = [
      ("origin", .origin), ("upstream", .upstream), ("id.example.com", .name("id.example.com")),
      ("id.example.com:443", .name("id.example.com:443")), ("id.example.com:80", .name("id.example.com:80")),
      ("'[::1]:9000'", .name("[::1]:9000")),
    ]
    for (text, expected) in values {
      let policy = Self.complete.replacing("host: Id.Example.com:8443", with: "host: \(text)")
      #expect(try #require(try Self.load(policy).policy).upstream.host == expected, "\(text)")
    }
  }

  @Test("The schemes that a client lists reach the policy, and its rule stays that of the policy")
  func listedSchemes() throws {
    let policy = try #require(try Self.load(Self.withListedSchemes).policy)
    let client = try #require(policy.clients[ClientID("com.example.mail")]).settings
    #expect(client.listedSchemes == ["com.example.mail", "cursor"])
    #expect(client.enforcement.schemes == policy.enforcement.defaults.schemes)
  }

  @Test("A health check reaches the policy")
  func healthCheck() throws {
    let check = try #require(try Self.load(Self.complete).policy?.upstream.healthCheck)
    var expected = HealthCheckSettings()
    expected.path = "/health"
    (expected.interval, expected.timeout) = (30_000, 5_000)
    expected.statuses = [200, 204]
    (expected.failures, expected.successes) = (4, 3)
    #expect(check == expected)
    #expect(try #require(try Self.load(Self.onUnixSocket).policy).upstream.healthCheck == nil)
  }

  @Test("Several servers and their affinity reach the policy", arguments: ["none", "address", "JSESSIONID"])
  func severalServers(_ word: String) throws {
    let upstream = try #require(try Self.load(Self.withSeveralServers(word)).policy).upstream
    #expect(upstream.origin == Origin(scheme: .https, host: "a.example.com"))
    #expect(upstream.unixSocket == nil)
    #expect(
      upstream.otherServers == [
        .unixSocket("/run/legacy.sock"), .origin(Origin(scheme: .https, host: "b.example.com", port: 8_443)),
      ])
    #expect(upstream.urls == "https://a.example.com, unix:/run/legacy.sock, https://b.example.com:8443")
    let expected: [String: AddressAffinity] = [
      "none": AddressAffinity.none, "address": .clientAddress, "JSESSIONID": .cookie("JSESSIONID"),
    ]
    #expect(upstream.affinity == expected[word])
    #expect(upstream.failureStatuses.isEmpty && upstream.failureCount == 9)
  }

  @Test("Every limit reaches the policy")
  func limits() throws {
    let policy = try #require(try Self.load(Self.complete).policy)
    var expected = LimitSettings()
    expected.headerBytes = 8_192
    expected.headerFields = 50
    expected.responseHeaderBytes = 8_192
    expected.responseHeaderFields = 40
    expected.targetLength = 4_096
    expected.body = 32_768
    expected.requestBuffer = 65_536
    expected.requestCopy = 131_072
    expected.headerTimeout = 5_000
    expected.bodyTimeout = 30_000
    expected.tunnelTimeout = 3_600_000
    expected.idleTimeout = 60_000
    expected.requestTimeout = 600_000
    expected.minimumRate = 1_024
    expected.connections = 1_000
    expected.connectionsPerAddress = 100
    expected.requestsPerAddress = 80
    expected.requestsPerConnection = 500
    expected.concurrentStreams = 50
    expected.streamResets = 20
    expected.controlFrames = 200
    expected.maxBufferMemory = 67_108_864
    expected.tokenRequestsPerClient = 600
    expected.tokenRequestsPerAddress = 0
    expected.registrationsPerNetwork = 50_000
    expected.registrations = 0
    #expect(policy.gateway.limits == expected)
    #expect(policy.upstream.reservedConnections == 4)
  }

  @Test("The limit of the target follows from the limit of the head if the policy sets only that")
  func shortHead() throws {
    let text = FindingCase.base.replacing("sealing_keys:", with: "limits: { header_bytes: 4KiB }\n  sealing_keys:")
    let limits = try #require(try Self.load(text).policy).gateway.limits
    #expect(limits.headerBytes == 4_096 && limits.targetLength == 2_048)
  }

  @Test("Every setting of a client reaches the policy")
  func client() throws {
    let policy = try #require(try Self.load(Self.complete).policy)
    let client = try #require(policy.clients[ClientID("com.example.mail")])
    #expect(client.name == "Example Mail")
    #expect(client.kind == .public)
    #expect(client.registration == .trusted)
    #expect(client.application == .native)
    #expect(client.platform == .ios)
    #expect(client.redirectURIs.map(\.text) == ["com.example.mail:/callback", "http://127.0.0.1/callback"])
    #expect(client.grants == [.authorizationCode, .deviceCode])
    #expect(client.pkce == .required)
    #expect(client.pkceMethods == [.s256])
    #expect(client.pkceSyntax == .strict)
    #expect(client.responseModes == [.query, .fragment])
    #expect(client.mode == .enforce)
    #expect(client.state == .off)
    #expect(client.localhost == .exact)
    #expect(client.schemes == .strict)
    #expect(client.embeddedUserAgents == .report)
    #expect(client.codeLifetime == 30)
    #expect(client.deviceCodeLifetime == 300)
    #expect(client.refreshReuseWindow == 5)
    #expect(client.refreshReuseNetworks == .any)
    #expect(client.refreshIdle == 3_600)
    // The first second after the leap day.
    #expect(client.rawRefreshUntil == 1_835_481_600)
    #expect(client.acceptOldVersionUntil == 1_835_481_600)
    #expect(client.pushedAuthorization == .required)
    #expect(!client.fragmentGuard)
    #expect(client.profile == .standard)
    #expect(client.consent == .upstream)
    #expect(client.upstream.clientID == ClientID("legacy-mail"))
    #expect(client.upstream.clientSecret?.reveal() == "s3cret")
    #expect(client.upstream.authentication == .post)
    #expect(client.upstream.redirectURI == .fixed("https://legacy.example.com/callback"))
  }

  @Test("A client inherits the settings that it omits from enforcement")
  func inheritance() throws {
    let policy = try #require(try Self.load(Self.complete).policy)
    let client = try #require(policy.clients[ClientID("web")])
    #expect(client.pkceMethods == [.s256, .plain])
    #expect(client.pkceSyntax == .lenient)
    #expect(client.mode == .observe)
    #expect(client.state == .require)
    #expect(client.localhost == .anyPort)
    #expect(client.schemes == .minimum)
    #expect(client.embeddedUserAgents == .block)
    #expect(client.codeLifetime == 120)
    #expect(client.deviceCodeLifetime == 900)
    #expect(client.refreshReuseWindow == 10)
    #expect(client.refreshIdle == 2_592_000)
    #expect(client.rawRefreshUntil == 1_806_537_600)
    #expect(client.pushedAuthorization == .optional)
    #expect(client.fragmentGuard)
    #expect(client.profile == .oauth21)
    #expect(client.reliesOnNonce)
    #expect(client.registration == .untrusted)
    #expect(client.secret?.reveal() == "web secret")
    #expect(policy.mode == .observe)
    #expect(policy.unknownClients == .observe)
    #expect(policy.redirects == [.privateUse, .loopback])
  }

  @Test("The defaults are the documented ones")
  func defaults() throws {
    let text = FindingCase.base + "clients:\n  - { id: a, type: public, redirect_uris: [com.example.a:/callback] }\n"
    let policy = try #require(try Self.load(text).policy)
    #expect(policy.gateway.issuer == "https://id.example.com")
    #expect(policy.gateway.admin?.description == "127.0.0.1:9180")
    #expect(policy.gateway.limits == LimitSettings())
    #expect(policy.upstream.reservedConnections == 128)
    #expect(policy.gateway.workers == nil)
    #expect(policy.gateway.drainDelay == 0)
    #expect(policy.gateway.drainTimeout == 30_000)
    #expect(policy.upstream.callback == .inPlace)
    #expect(policy.upstream.stateLimit == 4_096)
    #expect(policy.upstream.codeLifetime == 600)
    #expect(!policy.upstream.crossSiteLogin && !policy.upstream.earlyHints && !policy.upstream.forwardsTrailers)
    #expect(!policy.upstream.usesPKCE)
    #expect(policy.upstream.scopes == nil)
    #expect(policy.unknownClients == .reject)
    let client = try #require(policy.clients[ClientID("a")])
    #expect(client.application == .native)
    #expect(client.grants == [.authorizationCode, .refreshToken])
    #expect(client.pkce == .required)
    #expect(client.responseModes == [.query])
    #expect(client.codeLifetime == 60)
    #expect(client.refreshReuseWindow == 30)
    #expect(client.refreshIdle == 7_776_000)
    // The policy has `never`, which is not the same as an omitted setting.
    #expect(client.rawRefreshUntil == 0)
    #expect(EnforcementSettings().rawRefreshUntil == nil)
    #expect(client.pushedAuthorization == .off)
    #expect(!client.fragmentGuard)
    #expect(!policy.acceptsPushedRequests)
    #expect(client.upstream.clientID == ClientID("a"))
    #expect(client.upstream.authentication == .none)
    #expect(client.upstream.redirectURI == .requested)
  }

  @Test("Held credentials make Basic authentication and the callback the defaults (I-credentials)")
  func credentials() throws {
    let text =
      FindingCase.base + """
        clients:
          - id: a
            type: public
            redirect_uris: [com.example.a:/callback]
            upstream: { client_secret: { env: LEGACY_SECRET } }

        """
    let client = try #require(try Self.load(text).policy?.clients[ClientID("a")])
    #expect(client.upstream.authentication == .basic)
    #expect(client.upstream.redirectURI == .callback)
  }

  @Test(
    "The gateway asks for consent if the upstream would not (I-consent)",
    arguments: [
      ("{ id: a, type: public, redirect_uris: [com.example.a:/callback] }", ConsentOwner.gateway),
      ("{ id: a, type: public, redirect_uris: ['http://127.0.0.1/callback'] }", .gateway),
      ("{ id: a, type: public, redirect_uris: ['http://localhost/callback'] }", .gateway),
      ("{ id: a, type: public, redirect_uris: ['https://a.example.com/callback'] }", .upstream),
      ("{ id: a, type: public, redirect_uris: ['https://a.example.com/callback'], trusted: false }", .gateway),
      (
        "{ id: a, type: public, redirect_uris: ['https://a.example.com/callback'], upstream: { client_id: b } }",
        .gateway
      ),
      (
        """
        { id: a, type: public, redirect_uris: ['https://a.example.com/callback'] }
          - { id: c, type: public, redirect_uris: ['https://c.example.com/callback'], upstream: { client_id: a } }
        """, .gateway
      ),
    ])
  func consent(_ client: String, _ expected: ConsentOwner) throws {
    let outcome = try Self.load(FindingCase.base + "clients:\n  - \(client)\n")
    let policy = try #require(outcome.policy)
    #expect(policy.clients[ClientID("a")]?.consent == expected)
  }

  @Test("Origin and issuer default to each other")
  func originOrIssuer() throws {
    let text = FindingCase.base.split(separator: "origin: https").joined(separator: "issuer: https")
    let policy = try #require(try Self.load(text).policy)
    #expect(policy.gateway.origin.description == "https://id.example.com")
    #expect(policy.gateway.issuer == "https://id.example.com")
  }

  @Test("Plain http is accepted for loopback hosts", arguments: ["127.0.0.1:8080", "localhost", "[::1]:9000"])
  func loopbackOrigin(_ host: String) throws {
    let text = FindingCase.base.split(separator: "https://id.example.com").joined(separator: "http://\(host)")
    #expect(try Self.load(text).policy?.gateway.origin.description == "http://\(host)")
  }

  @Test("The version is the same for the same bytes and different for other bytes")
  func version() throws {
    let first = try #require(try Self.load(FindingCase.base).policy)
    let again = try #require(try Self.load(FindingCase.base).policy)
    let other = try #require(try Self.load(FindingCase.base + "# a comment\n").policy)
    #expect(first.version == again.version)
    #expect(first.version != other.version)
    #expect(first.version.utf8.count == 12)
  }

  @Test("A secret loses one line end and is otherwise unchanged", arguments: ["s3 cret\n", "s3 cret\r\n", "s3 cret"])
  func secretText(_ content: String) throws {
    let text =
      FindingCase.base + """
        clients:
          - { id: w, type: confidential, redirect_uris: ['https://w.example.com/callback'], secret: { file: s } }

        """
    let policy = try PolicyFolder.load(text, files: ["s": content]).policy
    #expect(policy?.clients[ClientID("w")]?.secret?.reveal() == "s3 cret")
  }

  @Test("In a large policy, findings between clients name the lines of both clients")
  func largePolicy() throws {
    let client = { (id: String, uri: String) in
      "  - { id: \(id), type: public, redirect_uris: [com.example.\(uri)] }\n"
    }
    let many = (0..<2_000).map { client("c\($0)", "c\($0):/callback") }.joined()
    let text = FindingCase.base + "clients:\n" + many
    let policy = try #require(try PolicyFolder.load(text).policy)
    #expect(policy.clients.count == 2_000)
    #expect(policy.clients[ClientID("c1234")]?.redirectURIs.map(\.text) == ["com.example.c1234:/callback"])

    let more = client("c0", "c1:/other") + client("z", "c2:/callback")
    let folder = try PolicyFolder(["policy.yaml": text + more, "keys": "k1\n"])
    defer { folder.remove() }
    let findings = folder.load().diagnostics
    #expect(
      folder.lines(findings.filter { $0.line > 12 }) == """
        policy.yaml:2013:11: error: client `c0` occurs twice, first in line 13; remove one
        policy.yaml:2013:45: warning: client `c0` and client `c1` both have scheme `com.example.c1`, which a \
        device gives to one app; use a scheme per app (RFC 8252, section 7.1) [shared-scheme]
        policy.yaml:2014:44: warning: client `z` and client `c2` both have redirect URI \
        `com.example.c2:/callback`; give each its own (RFC 8252, section 8.10) [shared-redirect-uri]
        """)
  }

  @Test("Included files are read in the order of their names, and a star matches within one directory")
  func includes() throws {
    let client = { (id: String) in "- { id: \(id), type: public, redirect_uris: [com.example.\(id):/callback] }\n" }
    let outcome = try PolicyFolder.load(
      FindingCase.base + "clients:\n  - include: clients.d/*.yaml\n  " + client("last"),
      files: [
        "clients.d/b.yaml": client("b"), "clients.d/a.yaml": "clients:\n  " + client("a"),
        "clients.d/.hidden.yaml": client("hidden"), "clients.d/c.txt": client("c"),
        "clients.d/deeper/d.yaml": client("d"),
      ])
    let policy = try #require(outcome.policy)
    #expect(Set(policy.clients.keys.map(\.rawValue)) == ["a", "b", "last"])
    let names = outcome.files.map { $0.split(separator: "/").last.map(String.init) ?? "" }
    #expect(names == ["policy.yaml", "a.yaml", "b.yaml"])
  }

  static func load(_ text: String) throws -> PolicyFile.Outcome {
    let files = try TLSFiles.all.get().merging(["secret": "web secret\n"]) { _, own in own }
    return try PolicyFolder.load(text, files: files, environment: ["LEGACY_SECRET": "s3cret"])
  }
}
