import OAuth
import Policy
import Testing
import Time

@testable import PolicyFile

@Suite("Findings about resources")
struct ResourceFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .resourceStore,
      "Tokens that a restart forgets",
      clients: """
        resources:
          - uri: https://api.example.com/
            introspection: { id: api, secret: { env: STRONG_SECRET } }
        """,
      expected: """
        policy.yaml:14:5: error: `store: memory` forgets at a restart for which resource a token is, and all tokens \
        become inactive; use `{ file: PATH }` or `redis://HOST:PORT/DB` [resource-store]
        """),
    FindingCase(
      .resourceObserved,
      "Tokens of an observed client",
      clients: """
        clients:
          - id: old-app
            type: public
            application: web
            redirect_uris: [https://app.example.com/cb]
            mode: observe
        resources:
          - uri: https://api.example.com/
        """,
      expected: """
        policy.yaml:17:11: warning: `mode: observe` refuses nothing; use `enforce` once the log shows that apps comply \
        [observe-mode]
        policy.yaml:18:1: warning: client `old-app` is observed, so the gateway does not record the tokens, and they are \
        inactive at every introspection and check; use `enforce` for clients of these resources [resource-observed]
        """),
    FindingCase(
      .resourceObserved,
      "Tokens of clients that are not listed",
      edits: [("  raw_refresh_until: never", "  raw_refresh_until: never\n  unknown_clients: observe")],
      clients: """
        resources:
          - uri: https://api.example.com/
        """,
      expected: """
        policy.yaml:12:20: warning: `unknown_clients: observe` lets clients through that no rule here covers; list them and use \
        `reject` [unknown-clients]
        policy.yaml:13:1: warning: clients that are not listed are observed, so the gateway does not record the tokens, \
        and they are inactive at every introspection and check; use `enforce` for clients of these resources \
        [resource-observed]
        """),
    FindingCase(
      .checkExposed,
      "A check for the network",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: { file: store.db }")],
      clients: """
        resources:
          - uri: https://api.example.com/
            check: 0.0.0.0:9181
        """,
      expected: """
        policy.yaml:15:12: warning: the check at `0.0.0.0:9181` has no authentication; allow only the proxy of the \
        resource to connect to it [check-exposed]
        """),
    FindingCase(
      .weakSecret,
      "A resource server with a short secret",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: { file: store.db }")],
      clients: """
        resources:
          - uri: https://api.example.com/
            introspection: { id: api, secret: { env: LEGACY_SECRET } }
        """,
      expected: """
        policy.yaml:15:39: error: the secret of the resource server has at most 31 bits and could be guessed; use 128 \
        random bits, such as 32 hexadecimal digits of `openssl rand -hex 16` (RFC 6749, section 10.10) \
        [weak-client-secret]
        """),
    FindingCase(
      .duplicateValue,
      "An alias of another resource",
      clients: """
        resources:
          - uri: https://api.example.com/
          - uri: https://api.example.com
            aliases: https://api.example.com/
        """,
      expected: """
        policy.yaml:15:14: error: `https://api.example.com/` occurs twice in `resources`, first in line 13; remove one
        """),
    FindingCase(
      .invalidValue,
      "A fragment in an identifier",
      clients: """
        resources:
          - uri: https://api.example.com/#a
        """,
      expected: """
        policy.yaml:13:10: error: `uri` cannot be `https://api.example.com/#a`; use an absolute URI without `#`, with at \
        most 256 characters
        """),
    FindingCase(
      .conflict,
      "A resource that is forwarded and mapped",
      edits: [("token: /token }", "token: /token }\n  parameters: resource")],
      clients: """
        resources:
          - uri: https://api.example.com/
        """,
      expected: """
        policy.yaml:13:1: error: `resources` decides what the server gets for a `resource`; remove `resource` from \
        `parameters` of `upstream`
        """),
    FindingCase(
      .conflict,
      "Scopes of resources in defaults",
      edits: [("token: /token }", "token: /token }\n  scopes: { default: [mail, legacy, openid] }")],
      clients: """
        clients:
          - id: web
            type: confidential
            redirect_uris: [https://web.example.com/cb]
            upstream: { scopes: { default: [other] } }
        resources:
          - uri: https://api.example.com/
            upstream: { scopes: [legacy, openid], client: { client_id: a, scopes: { default: [legacy] } } }
          - uri: https://other.example.com/
            upstream: { scopes: [other], client: { client_id: b, scopes: { default: [legacy] } } }
        """,
      expected: """
        policy.yaml:9:11: error: `upstream.scopes` of a resource adds `legacy` to requests for the resource; remove it \
        from `default` and `add`, so that other requests do not get it
        policy.yaml:17:25: error: `upstream.scopes` of a resource adds `other` to requests for the resource; remove it \
        from `default` and `add`, so that other requests do not get it
        policy.yaml:22:15: error: `upstream.scopes` of a resource adds `legacy` to requests for the resource; remove it \
        from `default` and `add`, so that other requests do not get it
        """),
    FindingCase(
      .droppedScope,
      "A scope of registered clients that the server does not get",
      edits: [("token: /token }", "token: /token }\n  scopes: { drop: [openid, mail] }")],
      clients: """
        registration:
          scopes: [openid, calendar]
          redirects: { loopback: true }
          upstream: { client_id: legacy-app }
        """,
      expected: """
        policy.yaml:14:11: note: scope `openid` is in `drop`, so no client of `registration` gets it, and a request for \
        it alone is refused; keep it only for apps that add it to other scopes (RFC 6749, section 3.3) [dropped-scope]
        """),
    FindingCase(
      .conflict,
      "Only scopes for registered clients that the server does not get",
      edits: [("token: /token }", "token: /token }\n  scopes: { drop: openid }")],
      clients: """
        registration:
          scopes: [openid, mail]
          redirects: { loopback: true }
          upstream: { client_id: legacy-app, scopes: { drop: [openid, mail] } }
        """,
      expected: """
        policy.yaml:14:11: error: all `scopes` of `registration` are in `drop`, so each authorization request of these \
        clients is refused; add a scope that the server gets, or remove one from `drop`
        """),
    FindingCase(
      .conflict,
      "A scope of a resource for registered clients",
      clients: """
        resources:
          - uri: https://api.example.com/
            upstream: { scopes: [legacy, openid] }
        registration:
          scopes: [openid, legacy]
          redirects: { loopback: true }
          upstream: { client_id: legacy-app }
        """,
      expected: """
        policy.yaml:16:11: error: `upstream.scopes` of a resource adds `legacy` to requests for the resource; remove \
        it from `scopes`, so that clients get it only with the resource
        """),
    FindingCase(
      .conflict,
      "An audience that is forwarded and mapped",
      edits: [("token: /token }", "token: /token }\n  parameters: audience")],
      clients: """
        resources:
          - uri: https://api.example.com/
            upstream: { audience: api }
        """,
      expected: """
        policy.yaml:13:1: error: `resources` decides what the server gets as `audience`; remove `audience` from \
        `parameters` of `upstream`
        """),
  ]

  @Test("A complete resource reaches the policy")
  func complete() throws {
    let text =
      FindingCase.base + """
        resources:
          - uri: https://api.example.com/
            aliases: [https://api.example.com]
            name: API
            scopes: [read, write]
            access_token_lifetime: 1h
            upstream:
              audience: api
              resource: urn:api
              scopes: legacy
              client: { client_id: legacy-api }
            check: 127.0.0.1:9181
            check_scopes: read
        """
    let folder = try PolicyFolder([
      "policy.yaml": text.replacing("keys }", with: "keys }\n  store: { file: s }"), "keys": "k1\n",
    ])
    defer { folder.remove() }
    let policy = try #require(folder.load().policy)
    let resource = try #require(policy.resources["https://api.example.com"])
    #expect(resource.uri.text == "https://api.example.com/" && resource.name == "API")
    #expect(resource.scopes == ["read", "write"] && resource.checkScopes == ["read"])
    #expect(resource.accessTokenLifetime == 3_600 && resource.check?.port == 9181)
    #expect(resource.upstream.audience == "api" && resource.upstream.resource == "urn:api")
    #expect(resource.upstream.scope?.text == "legacy" && resource.upstream.client?.clientID.rawValue == "legacy-api")
    #expect(policy.resources["HTTPS://API.example.com"]?.uri.text == "https://api.example.com/")
    #expect(policy.resources["https://api.example.com/x"] == nil)
  }
}
