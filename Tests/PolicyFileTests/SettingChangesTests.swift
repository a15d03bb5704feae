import FoundationEssentials
import Policy
import Testing

@testable import PolicyFile

@Suite("Settings that differ between two policies")
struct SettingChangesTests {
  private static func changes(_ edits: [(String, String)]) throws -> [String] {
    let text = PolicyValuesTests.complete
    var edited = text
    for (old, new) in edits {
      let place = try #require(edited.firstRange(of: old), "\(old)")
      edited.replaceSubrange(place, with: new)
    }
    let folder = try Self.folder()
    defer { folder.remove() }
    let before = try #require(try Self.load(text, in: folder))
    let after = try #require(try Self.load(edited, in: folder))
    return SettingChanges(from: before, to: after, maximumClients: 10).lines
  }

  /// The folder with the files that the policies name. Both policies are in it, because it is a part of some settings.
  private static func folder() throws -> PolicyFolder {
    let files = [
      "secret": "web secret\n", "keys": "k1\n", "keys2": "k2\n", "de.json": "{\"help\": \"Hilfe!\"}",
      "logo.svg": "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"></svg>",
    ]
    return try PolicyFolder(try TLSFiles.all.get().merging(files) { _, own in own })
  }

  private static func load(_ text: String, in folder: PolicyFolder) throws -> Policy? {
    let path = folder.path + "/policy.yaml"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let outcome = folder.load(environment: [
      "LEGACY_SECRET": "s3cret", "API_SECRET": "a-secret-of-at-least-128-bits-0123456789",
      "OTHER_SECRET": "another-secret-of-128-bits-9876543210",
    ])
    let errors = outcome.diagnostics.filter { $0.severity == .error }.map(\.description)
    #expect(errors.isEmpty, "\(errors)")
    return outcome.policy
  }

  @Test("Equal policies have no changes")
  func equal() throws {
    #expect(try Self.changes([]) == [])
  }

  @Test("Each changed setting is one line with its path, the old and the new value as a policy has them")
  func changed() throws {
    let lines = try Self.changes([
      ("device_code_lifetime: 15m", "device_code_lifetime: 20m"),
      ("raw_refresh_until: 2027-03-31", "raw_refresh_until: never"),
      ("name: Example Mail", "name: Other Mail"),
    ])
    for line in [
      "enforcement.device_code_lifetime: 15m -> 20m",
      "enforcement.raw_refresh_until: 2027-03-31 -> never",
      "clients[com.example.mail].name: Example Mail -> Other Mail",
      "clients[web].device_code_lifetime: 15m -> 20m",
    ] {
      #expect(lines.contains(line), "\(lines)")
    }
  }

  // MARK: Every setting

  /// Further mappings for ``PolicyValuesTests/complete``.
  private static let more =
    PolicyValuesTests.complete.replacing("[audience, tenant]", with: "[tenant, other]") + """

      resources:
        - uri: https://api.example.com/
          aliases: https://api.example.com
          scopes: api
          check: 127.0.0.1:9300
          check_scopes: api
          upstream: { audience: api, scopes: api, client: { client_id: api-client, client_secret: { env: LEGACY_SECRET } } }
          introspection: { id: api-server, secret: { env: API_SECRET }, upstream: { client_id: api-server, client_secret: { env: LEGACY_SECRET } } }
      registration:
        path: /register
        scopes: [mail]
        redirects: { https: apps.example.com, loopback: true, schemes: [com.example.dyn] }
        upstream: { client_id: dynamic, client_secret: { env: LEGACY_SECRET } }
        initial_access_token: { env: API_SECRET }
        deny: { ids: bad, hosts: bad.example.com, schemes: com.example.bad, names: "Bad*" }
      client_documents:
        urls: https://documents.example.com/
        scopes: [mail]
        redirects: { https: apps.example.com }
        upstream: { client_id: documents, client_secret: { env: LEGACY_SECRET } }
        ca: server-ca.pem
      routes:
        - prefix: /static/upload
          request_buffer: 4KiB
          request_headers: { set: { X-Zone: inner }, remove: Accept-Encoding }
          response_headers: { set: { X-Frame-Options: DENY }, remove: Server }
      """

  /// For each setting with a custom reader: a text of the policy, and another one that changes the setting.
  private static let edits: [String: (String, String)] = [
    "gateway.origin": ("origin: https://id.example.com:8443", "origin: https://other.example.com"),
    "gateway.issuer": ("8443/tenant/", "8443/tenant2/"),
    "gateway.listeners": ("address: 0.0.0.0:8080", "address: 0.0.0.0:8081"),
    "gateway.admin": ("admin: off", "admin: 127.0.0.1:9999"),
    "gateway.admin_hosts": ("admin_hosts: gw.example.com", "admin_hosts: gw2.example.com"),
    "gateway.store": ("6379/0", "6379/1"),
    "gateway.store_password": ("6379/0", "6379/0\n  store_password: { env: LEGACY_SECRET }"),
    "gateway.store_sentinel_password": (
      "redis://127.0.0.1:6379/0",
      "redis+sentinel://127.0.0.1:26379/main\n  store_sentinel_password: { env: LEGACY_SECRET }"
    ),
    "gateway.store_ca": ("redis://127.0.0.1:6379/0", "rediss://127.0.0.1:6379/0\n  store_ca: server-ca.pem"),
    "gateway.store_key_prefix": ("6379/0", "6379/0\n  store_key_prefix: other"),
    "gateway.sealing_keys": ("{ file: keys }", "{ file: keys2 }"),
    "gateway.trusted_proxies": ("192.0.2.1, unix", "192.0.2.2, unix"),
    "gateway.log_spool": ("lines.spool", "other.spool"),
    "gateway.scopes_supported": ("[profile, mail]", "[profile]"),
    "gateway.cors_origins": ("cors_origins: https://app", "cors_origins: https://app2"),
    "gateway.branding": ("branding: { name: Example,", "branding: { name: Example2,"),
    "gateway.access_log": ("sample: 10", "sample: 11"),
    "access_log.to": ("syslog: /dev/log", "syslog: /dev/log2"),
    "gateway.limits": ("header_fields: 50", "header_fields: 51"),
    "gateway.strict_transport_security": ("max_age: 24h", "max_age: 25h"),
    "branding.support_url": ("example.com/help", "example.com/help2"),
    "branding.logo": ("name: Example,", "name: Example, logo: logo.svg,"),
    "branding.color": ("name: Example,", "name: Example, color: \"#7a1fa2\","),
    "branding.dark_color": ("name: Example,", "name: Example, color: \"#7a1fa2\", dark_color: \"#e0a0ff\","),
    "branding.texts": ("name: Example,", "name: Example, texts: de.json,"),
    "branding.default_language": ("name: Example,", "name: Example, default_language: de,"),
    "listener.address": ("address: 0.0.0.0:8080", "address: 0.0.0.0:8081"),
    "listener.tls": ("handshake_timeout: 3s", "handshake_timeout: 4s"),
    "listener.owner": ("proofgate:www-data", "proofgate:adm"),
    "listener.mode": ("mode: \"0666\"", "mode: \"0660\""),
    "listener.local": ("local: true", "local: false"),
    "tls.certificate": (
      "certificate: gateway.pem\n        private_key: gateway.key",
      "certificate: other.pem\n        private_key: other.key"
    ),
    "tls.private_key": (
      "certificate: gateway.pem\n        private_key: gateway.key",
      "certificate: other.pem\n        private_key: other.key"
    ),
    "tls.certificates": (
      "certificates: [{ certificate: other.pem, private_key: other.key }]",
      "certificates: [{ certificate: client.pem, private_key: client.key }]"
    ),
    "tls.ciphers": ("TLS_AES_128_GCM_SHA256, ", ""),
    "tls.client_ca": ("client_ca: client-ca.pem", "client_ca: server-ca.pem"),
    "upstream.url": ("url: https://legacy.example.com", "url: https://legacy2.example.com"),
    "upstream.urls": (
      "url: https://legacy.example.com",
      "urls: [https://legacy.example.com, https://legacy3.example.com]\n  affinity: none"
    ),
    "upstream.errors": ("OAuthException: invalid_grant", "OAuthException: invalid_client"),
    "client.schemes": ("schemes: strict", "schemes: [com.example.mail]"),
    "upstream.host": ("host: Id.Example.com:8443", "host: origin"),
    "upstream.affinity": ("url: https://legacy.example.com", "affinity: address\n  url: https://legacy.example.com"),
    "upstream.failure_statuses": (
      "url: https://legacy.example.com", "failure_statuses: 503\n  url: https://legacy.example.com"
    ),
    "upstream.health_check": ("failures: 4", "failures: 5"),
    "health_check.path": ("path: /health,", "path: /health2,"),
    "health_check.statuses": ("statuses: [200, 204]", "statuses: 200"),
    "upstream.endpoints": ("token: /token", "token: /token2"),
    "upstream.scopes": ("default: [basic, mail]", "default: [basic]"),
    "upstream.tls": ("min_version: 1.3 }", "min_version: 1.2 }"),
    "upstream.parameters": ("[tenant, other]", "[tenant]"),
    "upstream.response_parameters": ("[realmId, ", "[realmId, hd, "),
    "upstream.upgrades": ("upgrades: websocket", "upgrades: [websocket, h2c2]"),
    "upstream.strip_headers": ("[X-Badge, ", "[X-Badge2, "),
    "upstream.keep_headers": ("keep_headers: iv-lang", "keep_headers: iv-lang2"),
    "endpoints.registration": (
      "registration: /register\n    metadata", "registration: /register2\n    metadata"
    ),
    "scopes.drop": ("drop: [openid, offline_access]", "drop: [openid]"),
    "scopes.default": ("default: [basic, mail]", "default: [basic]"),
    "scopes.add": ("add: legacy", "add: [legacy, base]"),
    "upstream_tls.ca": ("tls: { ca: server-ca.pem", "tls: { ca: client-ca.pem"),
    "upstream_tls.server_name": ("Inner.example", "Inner2.example"),
    "upstream_tls.certificate": (
      "certificate: client.pem, private_key: client.key", "certificate: other.pem, private_key: other.key"
    ),
    "upstream_tls.private_key": (
      "certificate: client.pem, private_key: client.key", "certificate: other.pem, private_key: other.key"
    ),
    "upstream_tls.min_version": ("min_version: 1.3 }", "min_version: 1.2 }"),
    "resource.uri": ("uri: https://api.example.com/", "uri: https://api2.example.com/"),
    "resource.aliases": ("aliases: https://api.example.com", "aliases: https://api.example.org"),
    "resource.scopes": ("    scopes: api\n", "    scopes: [api, api2]\n"),
    "resource.check": ("check: 127.0.0.1:9300", "check: 127.0.0.1:9301"),
    "resource.check_scopes": ("check_scopes: api", "check_scopes: []"),
    "resource.upstream": ("audience: api,", "audience: api2,"),
    "resource.introspection": ("{ id: api-server", "{ id: api-server2"),
    "resource_upstream.scopes": ("audience: api, scopes: api", "audience: api, scopes: api2"),
    "resource_upstream.client": ("client_id: api-client", "client_id: api-client2"),
    "resource_server.id": ("{ id: api-server", "{ id: api-server2"),
    "resource_server.secret": ("secret: { env: API_SECRET }, upstream", "secret: { env: OTHER_SECRET }, upstream"),
    "resource_server.upstream": ("upstream: { client_id: api-server", "upstream: { client_id: api-server3"),
    "route.prefix": ("prefix: /static/upload", "prefix: /static/upload2"),
    "route.request_buffer": ("request_buffer: 4KiB", "request_buffer: off"),
    "route.request_headers": ("X-Zone: inner", "X-Zone: outer"),
    "route.response_headers": ("X-Frame-Options: DENY", "X-Frame-Options: SAMEORIGIN"),
    "header_changes.set": ("X-Zone: inner", "X-Other: inner"),
    "header_changes.remove": ("remove: Server", "remove: [Server, X-Powered-By]"),
    "registration.path": ("path: /register", "path: /register3"),
    "registration.scopes": ("path: /register\n  scopes: [mail]", "path: /register\n  scopes: [mail, x]"),
    "registration.resources": ("path: /register\n", "path: /register\n  resources: https://api.example.com/\n"),
    "registration.initial_access_token": (
      "initial_access_token: { env: API_SECRET }", "initial_access_token: { env: OTHER_SECRET }"
    ),
    "registration.redirects": ("com.example.dyn", "com.example.dyn2"),
    "registration.upstream": ("client_id: dynamic", "client_id: dynamic2"),
    "registration.deny": ("ids: bad", "ids: bad2"),
    "client_documents.redirects": ("redirects: { https: apps.example.com }", "redirects: { https: apps2.example.com }"),
    "client_documents.upstream": ("client_id: documents", "client_id: documents2"),
    "client_documents.deny": ("\n  ca: server-ca.pem", "\n  ca: server-ca.pem\n  deny: { ids: x }"),
    "unlisted_redirects.https": ("https: apps.example.com, loopback", "https: any, loopback"),
    "unlisted_redirects.schemes": ("schemes: [com.example.dyn]", "schemes: any"),
    "client_deny.ids": ("ids: bad", "ids: bad2"),
    "client_deny.hosts": ("hosts: bad.example.com", "hosts: bad2.example.com"),
    "client_deny.schemes": ("schemes: com.example.bad", "schemes: com.example.bad2"),
    "client_deny.names": ("names: \"Bad*\"", "names: \"Bad2*\""),
    "client_documents.urls": ("urls: https://documents.example.com/", "urls: https://documents2.example.com/"),
    "client_documents.scopes": (
      "documents.example.com/\n  scopes: [mail]", "documents.example.com/\n  scopes: [mail, x]"
    ),
    "client_documents.resources": (
      "documents.example.com/\n", "documents.example.com/\n  resources: https://api.example.com/\n"
    ),
    "client_documents.ca": ("\n  ca: server-ca.pem", "\n  ca: client-ca.pem"),
    "client.id": ("id: com.example.mail", "id: com.example.mail2"),
    "client.redirect_uris": ("[com.example.mail:/callback, ", "[com.example.mail:/callback2, "),
    "client.grants": ("[authorization_code, device_code]", "[authorization_code]"),
    "client.secret": ("secret: { file: secret }", "secret: { env: OTHER_SECRET }"),
    "client.upstream": ("client_id: legacy-mail", "client_id: legacy-mail2"),
    "client_upstream.scopes": ("default: profile", "default: mail"),
    "client_upstream.client_id": ("client_id: legacy-mail", "client_id: legacy-mail2"),
    "client_upstream.client_secret": (
      "client_secret: { env: LEGACY_SECRET }\n", "client_secret: { env: OTHER_SECRET }\n"
    ),
    "client_upstream.redirect_uri": ("redirect_uri: https://legacy", "redirect_uri: https://legacy2"),
  ]

  /// The settings with a custom reader that have no value of their own.
  private static let without: [String: String] = [
    "policy.version": "has one value only", "policy.gateway": "its rows", "policy.upstream": "its rows",
    "policy.enforcement": "its rows", "policy.registration": "its rows", "policy.client_documents": "its rows",
    "policy.clients": "clients", "policy.resources": "resources", "policy.routes": "routes",
    "upstream.kind": "a preset has values of other settings", "client.include": "clients", "include.include": "clients",
    "secret.file": "secrets", "secret.env": "secrets", "file.file": "sealing_keys", "store.file": "store",
    "access_log_to.file": "access_log.to", "access_log_to.syslog": "access_log.to",
    "included_file.clients": "clients", "certificate.certificate": "certificates",
    "certificate.private_key": "certificates",
  ]

  @Test("Each setting of each table is compared")
  func everySetting() throws {
    let folder = try Self.folder()
    defer { folder.remove() }
    let before = try #require(try Self.load(Self.more, in: folder))
    for table in PolicyFormat.tables {
      for row in table.rows where !row.isPlain {
        let name = "\(table.name).\(row.key)"
        guard Self.without[name] == nil else { continue }
        let (old, new) = try #require(Self.edits[name], "\(name) needs an edit in this test")
        let place = try #require(Self.more.firstRange(of: old), "\(name)")
        var text = Self.more
        text.replaceSubrange(place, with: new)
        let after = try #require(try Self.load(text, in: folder), "\(name)")
        let lines = SettingChanges(from: before, to: after, maximumClients: 10).lines
        #expect(!lines.isEmpty, "\(name) is not compared")
        #expect(lines.allSatisfy { !$0.contains("s3cret") && !$0.contains("-secret-of-") }, "\(name)")
      }
    }
  }
}
