import Testing

@testable import PolicyFile

@Suite("Findings about gateway, upstream and rules")
struct GatewayFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .plaintextOrigin,
      "An http origin off loopback",
      edits: [("origin: https://id.example.com", "origin: http://id.example.com")],
      expected: """
        policy.yaml:3:11: error: `origin` cannot be plain http at `id.example.com`; use https, http is for \
        loopback hosts (RFC 8414, section 2) [plaintext-origin]
        """),
    FindingCase(
      .plaintextListener,
      "A plaintext listener for everybody",
      edits: [("listeners: [{ address: 127.0.0.1:8080 }]", "listeners: [{ address: 0.0.0.0:8080 }]")],
      expected: """
        policy.yaml:4:15: warning: plaintext listener `0.0.0.0:8080` answers no OAuth request while \
        `trusted_proxies` is empty; name the proxies that terminate TLS, or add `tls` (RFC 6749, sections \
        3.1 and 3.2) [plaintext-listener]
        """),
    FindingCase(
      .trustEveryone,
      "Proxies anywhere",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  trusted_proxies: 0.0.0.0/0")],
      expected: """
        policy.yaml:6:20: warning: `0.0.0.0/0` trusts every peer; list the addresses of your proxies [trust-everyone]
        """),
    FindingCase(
      .invalidValue,
      "An origin of scripts with a path, one twice, and one without TLS",
      edits: [
        (
          "sealing_keys: { file: keys }",
          "sealing_keys: { file: keys }\n"
            + "  cors_origins: [https://a.example.com/cb, https://b.example.com, https://b.example.com, http://c.example]"
        )
      ],
      expected: """
        policy.yaml:6:18: error: `cors_origins` cannot hold a path; use `https://a.example.com`
        policy.yaml:6:67: error: `https://b.example.com` occurs twice in `cors_origins`; keep one
        policy.yaml:6:90: error: `cors_origins` cannot be plain http at `c.example`; use https, http is for loopback \
        hosts (RFC 8414, section 2) [plaintext-origin]
        """),
    FindingCase(
      .invalidValue,
      "Origins of apps, and texts that are none",
      edits: [
        (
          "sealing_keys: { file: keys }",
          "sealing_keys: { file: keys }\n"
            + "  cors_origins: [capacitor://localhost, http://tauri.localhost, 'capacitor://localhost/x', 'file://']"
        )
      ],
      expected: """
        policy.yaml:6:65: error: `cors_origins` cannot be `capacitor://localhost/x`; it must begin with `https://` or \
        `http://`
        policy.yaml:6:92: error: `cors_origins` cannot be `file://`; it must begin with `https://` or `http://`
        """),
    FindingCase(
      .adminExposed,
      "An admin listener for everybody",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  admin: 0.0.0.0:9180")],
      expected: """
        policy.yaml:6:10: warning: the admin listener at `0.0.0.0:9180` has no authentication; allow only your \
        monitoring to connect to it [admin-exposed]
        """),
    FindingCase(
      .ephemeralKey,
      "No sealing keys",
      edits: [("  sealing_keys: { file: keys }\n", "")],
      expected: """
        policy.yaml:2:1: warning: without `sealing_keys` every restart ends the sign-ins in progress; add \
        `sealing_keys: { file: PATH }` [ephemeral-key]
        """),
    FindingCase(
      .ephemeralKey,
      "No sealing keys for sealed refresh tokens",
      edits: [("  sealing_keys: { file: keys }\n", "")],
      clients: """
        clients:
          - { id: app, name: App, type: public, redirect_uris: [com.example.app:/cb], upstream: { client_id: legacy } }

        """,
      expected: """
        policy.yaml:2:1: error: without `sealing_keys` every restart signs all users of the apps out; add \
        `sealing_keys: { file: PATH }` (`proofgate keys generate --file PATH` creates the file) [ephemeral-key]
        """),
    FindingCase(
      .untrustedProxy,
      "A loopback listener for a proxy that is not named",
      expected: """
        policy.yaml:4:15: warning: the proxy that ends TLS in front of `127.0.0.1:8080` is not in `trusted_proxies`, so \
        every request seems to come from this machine and limits per address have no effect; add its address, for \
        example `127.0.0.1` [untrusted-proxy]
        """),
    FindingCase(
      .duplicateValue,
      "The admin listener on the address of another listener",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  admin: 127.0.0.1:8080")],
      expected: """
        policy.yaml:6:10: error: `admin` and the listener in line 4 both need port 8080; give one of them another port
        """),
    FindingCase(
      .duplicateValue,
      "The admin listener within a listener for all addresses",
      edits: [
        ("address: 127.0.0.1:8080", "address: 0.0.0.0:9180"),
        (
          "sealing_keys: { file: keys }",
          "sealing_keys: { file: keys }\n  admin: 127.0.0.1:9180\n  trusted_proxies: [10.0.0.1]"
        ),
      ],
      expected: """
        policy.yaml:6:10: error: `admin` and the listener in line 4 both need port 9180; give one of them another port
        """),
    FindingCase(
      .conflict,
      "An upstream that is the gateway's own listener",
      edits: [("url: http://127.0.0.1:9000", "url: http://localhost:8080")],
      expected: """
        policy.yaml:7:8: error: `url` is the gateway's own listener in line 4, so requests would loop; use the address \
        of the server
        """),
    FindingCase(
      .invalidValue,
      "A Unix-domain socket with a relative path",
      edits: [("address: 127.0.0.1:8080", "address: \"unix:proofgate.sock\"")],
      expected: """
        policy.yaml:4:26: error: `address` cannot be `unix:proofgate.sock`; use an absolute path of at most 107 \
        characters without spaces, such as `unix:/run/proofgate.sock`, or `unix:@NAME` for an abstract name
        """),
    FindingCase(
      .invalidValue,
      "A mode and an owner that are none",
      edits: [("address: 127.0.0.1:8080", "address: \"unix:/run/a.sock\", mode: rw, owner: \"a b\", local: true")],
      expected: """
        policy.yaml:4:52: error: `mode` cannot be `rw`; use three octal digits, such as `"0660"`
        policy.yaml:4:63: error: `owner` cannot be `a b`; use a user and a group, such as `proofgate:www-data` or `:33`
        """),
    FindingCase(
      .conflict,
      "A mode for an address",
      edits: [("address: 127.0.0.1:8080", "address: 127.0.0.1:8080, mode: \"0600\"")],
      expected: """
        policy.yaml:4:48: error: `mode` is only for a Unix-domain socket; remove it, or use an `address` such as \
        `unix:/run/proofgate.sock`
        """),
    FindingCase(
      .conflict,
      "An owner for an abstract name",
      edits: [("address: 127.0.0.1:8080", "address: \"unix:@a\", owner: proofgate")],
      expected: """
        policy.yaml:4:15: warning: plaintext listener `unix:@a` answers no OAuth request while `trusted_proxies` is \
        empty; add `unix` to `trusted_proxies`, or add `tls` (RFC 6749, sections 3.1 and 3.2) [plaintext-listener]
        policy.yaml:4:44: error: an abstract name has no file, so it has no owner and no mode; remove `owner`, or use a \
        path
        """),
    FindingCase(
      .plaintextListener,
      "A Unix-domain socket whose peers are not trusted",
      edits: [("address: 127.0.0.1:8080", "address: \"unix:/run/a.sock\"")],
      expected: """
        policy.yaml:4:15: warning: plaintext listener `unix:/run/a.sock` answers no OAuth request while \
        `trusted_proxies` is empty; add `unix` to `trusted_proxies`, or add `tls` (RFC 6749, sections 3.1 and 3.2) \
        [plaintext-listener]
        """),
    FindingCase(
      .conflict,
      "An upstream that is the gateway's own Unix-domain socket",
      edits: [
        ("address: 127.0.0.1:8080", "address: \"unix:/run/a.sock\", local: true"),
        ("url: http://127.0.0.1:9000", "url: unix:/run/a.sock"),
      ],
      expected: """
        policy.yaml:7:8: error: `url` is the gateway's own listener in line 4, so requests would loop; use the address \
        of the server
        """),
    FindingCase(
      .ephemeralKey,
      "No sealing keys for several replicas",
      edits: [("  sealing_keys: { file: keys }\n", "  replicas: 2\n  store: redis://127.0.0.1:6379/0\n")],
      expected: """
        policy.yaml:2:1: error: 2 replicas without `sealing_keys` cannot open values that another one sealed; add \
        `sealing_keys: { file: PATH }` [ephemeral-key]
        """),
    FindingCase(
      .memoryStore,
      "Several replicas with a memory store",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  replicas: 2")],
      expected: """
        policy.yaml:2:1: error: 2 replicas cannot share `store: memory`; use `redis://HOST:PORT/DB` or one replica \
        [memory-store-replicas]
        """),
    FindingCase(
      .inlineSecret,
      "A password in the URL of the store",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: redis://u:secret@127.0.0.1")],
      expected: """
        policy.yaml:6:10: error: `store` cannot be this URL; it contains a password; name its file with `store_password`
        """),
    FindingCase(
      .invalidValue,
      "A password in the URL of a store that is not supported",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: valkey://u:secret@127.0.0.1")],
      expected: """
        policy.yaml:6:10: error: `store` cannot be this URL; use `memory`, `{ memory: SIZE }`, `{ file: PATH }` or \
        `redis://HOST:PORT/DB`
        """),
    FindingCase(
      .invalidValue,
      "A password in a URL of a store with an unknown scheme",
      edits: [
        ("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: redis+tls://u:secret@127.0.0.1")
      ],
      expected: """
        policy.yaml:6:10: error: `store` cannot be this URL; it has none of the schemes `redis://`, `rediss://`, \
        `redis+sentinel://`, `rediss+sentinel://` and `redis+unix:`
        """),
    FindingCase(
      .invalidValue,
      "A URL of a store that cannot be used",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: redis://127.0.0.1/x")],
      expected: """
        policy.yaml:6:10: error: `store` cannot be `redis://127.0.0.1/x`; it has no database number after the host
        """),
    FindingCase(
      .invalidValue,
      "A URL of a store that cannot be used is the only error, although there are settings of a Redis server",
      edits: [
        (
          "sealing_keys: { file: keys }",
          """
          sealing_keys: { file: keys }
            store: rediss://127.0.0.1/x
            store_epoch: strict
            store_key_prefix: gw
          """
        )
      ],
      expected: """
        policy.yaml:6:10: error: `store` cannot be `rediss://127.0.0.1/x`; it has no database number after the host
        """),
    FindingCase(
      .conflict,
      "Settings of a Redis server with a store in memory and in a file",
      edits: [
        (
          "sealing_keys: { file: keys }",
          """
          sealing_keys: { file: keys }
            store: { file: state.db }
            store_epoch: strict
          """
        )
      ],
      expected: """
        policy.yaml:7:3: error: `store_epoch` has no effect without a Redis server as `store`; remove it
        """),
    FindingCase(
      .conflict,
      "Settings of a Redis server without a password, without TLS, and without sentinels",
      edits: [
        (
          "sealing_keys: { file: keys }",
          """
          sealing_keys: { file: keys }
            store: redis://u@127.0.0.1
            store_ca: server-ca.pem
            store_sentinel_password: { env: LEGACY_SECRET }
          """
        )
      ],
      expected: """
        policy.yaml:6:10: error: `store` names a user without a password; add `store_password`
        policy.yaml:7:3: error: `store_ca` has no effect without TLS; use `rediss://` in `store` or remove it
        policy.yaml:7:13: error: certificate file `server-ca.pem` does not exist; create it, or name another
        policy.yaml:8:3: error: `store_sentinel_password` has no effect without sentinels in `store`; remove it
        """),
    FindingCase(
      .conflict,
      "A rule for a shared store without one",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store_epoch: strict")],
      expected: """
        policy.yaml:6:3: error: `store_epoch` has no effect without a Redis server as `store`; remove it
        """),
    FindingCase(
      .invalidValue,
      "A store that is too small, and a value that names no store",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: { memory: 64KiB }")],
      expected: """
        policy.yaml:6:20: error: `memory` cannot be `64KiB`; use 1048576 to 1099511627776 bytes, such as `2048` or \
        `2KiB`
        """),
    FindingCase(
      .missingKey,
      "A store without a size",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: {}")],
      expected: """
        policy.yaml:6:10: error: `store` is empty; add `memory: SIZE` or `file: PATH`
        """),
    FindingCase(
      .conflict,
      "A store in two places",
      edits: [
        ("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: { memory: 64MiB, file: state.db }")
      ],
      expected: """
        policy.yaml:6:10: error: `store` needs either `memory` or `file`; give one of them
        """),
    FindingCase(
      .conflict,
      "A size without a file",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  store: { size: 64MiB }")],
      expected: """
        policy.yaml:6:10: error: `size` is the size of a store in a `file`; add `file: PATH`, or use `memory: SIZE`
        """),
    FindingCase(
      .memoryStore,
      "Several replicas with a store in a file",
      edits: [
        ("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  replicas: 2\n  store: { file: state.db }")
      ],
      expected: """
        policy.yaml:7:10: error: 2 replicas cannot share a `store` in a file; use `redis://HOST:PORT/DB` or one replica \
        [memory-store-replicas]
        """),
    FindingCase(
      .revocationMissing,
      "Refresh tokens, and a server whose revocation endpoint is not named",
      clients: "clients:\n  - { id: a, type: public, redirect_uris: [com.example.a:/cb] }\n",
      expected: """
        policy.yaml:8:3: note: `endpoints` has no `revocation`, so the server's tokens outlive a replayed \
        code or a reused refresh token; add its path if the server has one (RFC 9700, section 4.14.2) \
        [revocation-missing]
        """),
    FindingCase(
      .invalidValue,
      "A Unix socket without an absolute path",
      edits: [("url: http://127.0.0.1:9000", "url: unix:legacy.sock")],
      expected: """
        policy.yaml:7:8: error: `url` cannot be `unix:legacy.sock`; use an absolute path of at most 107 characters \
        without spaces, such as `unix:/run/legacy.sock`, or `unix:@NAME` for an abstract name
        """),
    FindingCase(
      .plaintextUpstream,
      "A remote upstream over http",
      edits: [("url: http://127.0.0.1:9000", "url: http://legacy.example.com")],
      expected: """
        policy.yaml:7:8: warning: codes and secrets travel to `legacy.example.com` in the clear; use https, or run the \
        gateway on the machine of the upstream (RFC 6749, sections 3.1 and 3.2) [plaintext-upstream]
        """),
    FindingCase(
      .networkCallback,
      "A callback over the network, of a server that does not understand PKCE",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  callback: network\n  pkce: strip"
        )
      ],
      expected: """
        policy.yaml:9:13: error: `callback: network` lets the browser see the upstream's raw codes, and without PKCE \
        another program can redeem one; use `in_place`, or `pkce: forward` if the upstream understands PKCE, or \
        accept this with `callback_risk: accepted` [network-callback]
        """),
    FindingCase(
      .networkCallback,
      "A callback over the network, with the gateway's own challenge",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  callback: network\n  pkce: forward"
        )
      ],
      expected: """
        policy.yaml:9:13: warning: `callback: network` lets the browser see the upstream's raw codes; use \
        `in_place` unless the upstream answers by script, by form_post or from another origin \
        [network-callback]
        """),
    FindingCase(
      .networkCallback,
      "A callback over the network whose risk is accepted",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  callback_risk: accepted\n  callback: network"
        )
      ],
      expected: """
        policy.yaml:10:13: warning: `callback: network` lets the browser see the upstream's raw codes; use \
        `in_place` unless the upstream answers by script, by form_post or from another origin \
        [network-callback]
        """),
    FindingCase(
      .networkCallback,
      "A risk that is accepted and does not exist",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  callback_risk: accepted"
        )
      ],
      expected: """
        policy.yaml:9:18: warning: `callback_risk` has no effect without `callback: network`, or where the upstream \
        gets a challenge; remove it [network-callback]
        """),
    FindingCase(
      .invalidValue,
      "A risk that is not named as accepted",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  callback_risk: true"
        )
      ],
      expected: """
        policy.yaml:9:18: error: `callback_risk` cannot be `true`; use `accepted`
        """),
    FindingCase(
      .conflict,
      "A scope that is dropped and is the default",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  scopes: { drop: [openid, mail], default: [basic, mail] }"
        )
      ],
      expected: """
        policy.yaml:9:52: error: scope `mail` is in `drop` and in `default`; remove it from one
        """),
    FindingCase(
      .conflict,
      "A scope that is dropped and added",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  scopes: { drop: openid, add: openid }"
        )
      ],
      expected: """
        policy.yaml:9:32: error: scope `openid` is in `drop` and in `add`; remove it from one
        """),
    FindingCase(
      .invalidValue,
      "Scopes that are no scope tokens, or several",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  scopes: { drop: [a b, 'x\"y', dé], default: 'a\\b' }"
        )
      ],
      expected: """
        policy.yaml:9:20: error: `drop` cannot hold `a b`; use one scope token an item, without spaces, `"` and `\\`
        policy.yaml:9:25: error: `drop` cannot hold `x"y`; use one scope token an item, without spaces, `"` and `\\`
        policy.yaml:9:32: error: `drop` cannot hold `dé`; use one scope token an item, without spaces, `"` and `\\`
        policy.yaml:9:46: error: `default` cannot hold `a\\b`; use one scope token an item, without spaces, `"` and `\\`
        """),
    FindingCase(
      .duplicateValue,
      "A scope that is dropped twice",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  scopes: { drop: [openid, openid] }"
        )
      ],
      expected: """
        policy.yaml:9:28: error: `openid` occurs twice in `drop`; keep one
        """),
    FindingCase(
      .conflict,
      "A client whose scopes contradict the server's",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  scopes: { drop: openid, default: basic }"
        )
      ],
      clients: """
        clients:
          - id: web
            type: confidential
            redirect_uris: [https://web.example.com/cb]
            upstream: { scopes: { drop: [basic] } }
          - id: other
            type: confidential
            redirect_uris: [https://other.example.com/cb]
            upstream: { scopes: { default: [openid] } }
          - id: third
            type: confidential
            redirect_uris: [https://third.example.com/cb]
            upstream: { scopes: { drop: [basic], default: [openid] } }
        """,
      expected: """
        policy.yaml:17:34: error: scope `basic` is in `drop` and in the server's `default`; remove it, or add a \
        `default` for the client
        policy.yaml:21:37: error: scope `openid` is in `drop` and in `default`; remove it from one
        """),
    FindingCase(
      .issuerOrigin,
      "An issuer on another host than the gateway",
      edits: [
        ("origin: https://id.example.com", "origin: https://id.example.com\n  issuer: https://login.example.com/a")
      ],
      expected: """
        policy.yaml:4:11: error: `issuer` is at `https://login.example.com` and `origin` is `https://id.example.com`, \
        so clients find no metadata of this issuer, or refuse it; use one host for both, or `metadata: mirrored` if \
        the issuer's host serves the gateway's document (RFC 8414, section 3.3) [issuer-origin]
        """),
    FindingCase(
      .everythingPassed,
      "Every path passes, and a client is enforced",
      clients: """
        clients:
          - { id: mail, type: public, redirect_uris: ['com.example.mail:/cb'] }
        """,
      expected: """
        policy.yaml:6:1: warning: without `pass`, or with `/` in it, every path of the server is reachable, other OAuth \
        endpoints and consoles too; list the prefixes that browsers need, or write `pass: []` [everything-passed]
        """),
    FindingCase(
      .everythingPassed,
      "`/` in `pass`, and a client is enforced",
      edits: [("url: http://127.0.0.1:9000\n", "url: http://127.0.0.1:9000\n  pass: [/login, /]\n")],
      clients: """
        clients:
          - { id: mail, type: public, redirect_uris: ['com.example.mail:/cb'] }
        """,
      expected: """
        policy.yaml:8:9: warning: without `pass`, or with `/` in it, every path of the server is reachable, other OAuth \
        endpoints and consoles too; list the prefixes that browsers need, or write `pass: []` [everything-passed]
        """),
    FindingCase(
      .completionPaths,
      "No paths that complete sign-ins, and a client is enforced",
      clients: """
        clients:
          - { id: mail, type: public, redirect_uris: ['com.example.mail:/cb'] }
        """,
      expected: """
        policy.yaml:6:1: note: without `completion_paths` sign-ins complete at the authorization endpoint alone; list the \
        login pages from which the server redirects to the app (`proofgate readiness` finds them), or write \
        `completion_paths: []` (RFC 9700, section 4.5) [completion-paths]
        """),
    FindingCase(
      .completionPaths,
      "Every path completes sign-ins, and a client is enforced",
      edits: [("  endpoints:", "  completion_paths: [/login, /]\n  endpoints:")],
      clients: """
        clients:
          - { id: mail, type: public, redirect_uris: ['com.example.mail:/cb'] }
        """,
      expected: """
        policy.yaml:8:21: warning: `/` in `completion_paths` lets any page of the server complete a sign-in with a code \
        that an attacker sends it; list its login and consent pages (RFC 9700, section 4.5) [completion-paths]
        """),
    FindingCase(
      .invalidValue,
      "Paths that complete sign-ins which servers read in several ways",
      edits: [("  endpoints:", "  completion_paths: [/interaction/*/x, /a+b, /a//b]\n  endpoints:")],
      expected: """
        policy.yaml:8:22: error: `completion_paths` cannot be `/interaction/*/x`; a prefix is no pattern; leave `*` out
        policy.yaml:8:40: error: `completion_paths` cannot be `/a+b`; servers read `+`, `(` and a period at the end of a \
        segment in several ways; use a shorter prefix
        policy.yaml:8:46: error: `completion_paths` cannot be `/a//b`; write one slash, not two
        """),
    FindingCase(
      .unlistedOAuth,
      "OAuth requests on other paths pass, and a client is enforced",
      edits: [("mode: enforce", "mode: enforce\n  unlisted_oauth: observe")],
      clients: """
        clients:
          - { id: mail, type: public, redirect_uris: ['com.example.mail:/cb'] }
        """,
      expected: """
        policy.yaml:11:19: warning: `unlisted_oauth: observe` lets OAuth requests pass to paths that no rule \
        covers; list them in `endpoints` and use `reject` [unlisted-oauth-observed]
        """),
    FindingCase(
      .notEndpointUnneeded,
      "A path that looks like no endpoint",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  not_endpoints: [/login, /authorized, /x/token/5]"
        )
      ],
      expected: """
        policy.yaml:9:19: warning: `/login` in `not_endpoints` resembles no endpoint, so it passes anyway; remove it \
        [not-endpoint-unneeded]
        """),
    FindingCase(
      .invalidValue,
      "A wildcard in a path",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /realms/*/auth, token: /token }\n  pass: [/static/*]"
        )
      ],
      expected: """
        policy.yaml:8:31: error: `/realms/*/auth` in `authorization` has a `*`, which would match only itself; list each \
        path
        policy.yaml:9:10: error: `/static/*` in `pass` has a `*`, which would match only itself; list each path, or the \
        folder, which includes all below it
        """),
    FindingCase(
      .duplicateValue,
      "A path that is listed twice among thousands",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  not_endpoints: ["
            + ((0..<5_000).map { "/token\($0)" } + ["/token7"]).joined(separator: ", ") + "]"
        )
      ],
      expected: """
        policy.yaml:9:58909: error: `/token7` occurs twice in `not_endpoints`; keep one
        """),
    FindingCase(
      .conflict,
      "A spelling of an endpoint among the paths that are none",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  not_endpoints: /Token.json/"
        )
      ],
      expected: """
        policy.yaml:9:18: error: `/Token.json/` in `not_endpoints` is a variant of the endpoint `/token`; remove it
        """),
    FindingCase(
      .shortStateLimit,
      "Few bytes of state",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  state_limit: 15"
        )
      ],
      expected: """
        policy.yaml:9:16: warning: `state_limit` 15 leaves handles with 90 bits instead of 128; raise it if \
        the upstream can (RFC 6749, section 10.10) [short-state-limit]
        """),
    FindingCase(
      .observeMode,
      "Observe mode",
      edits: [("mode: enforce", "mode: observe")],
      expected: """
        policy.yaml:10:9: warning: `mode: observe` refuses nothing; use `enforce` once the log shows that \
        apps comply [observe-mode]
        """),
    FindingCase(
      .unknownClients,
      "Unknown clients pass",
      edits: [("mode: enforce", "mode: enforce\n  unknown_clients: observe")],
      expected: """
        policy.yaml:11:20: warning: `unknown_clients: observe` lets clients through that no rule here covers; \
        list them and use `reject` [unknown-clients]
        """),
    FindingCase(
      .redirectKindOff,
      "Loopback redirects switched off",
      edits: [("mode: enforce", "mode: enforce\n  redirects: [private_use, claimed_https]")],
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['http://127.0.0.1/callback']
        """,
      expected: """
        policy.yaml:11:14: warning: `redirects` lacks `loopback`, so the profile of RFC 8252 is not met; \
        apps need all three kinds (RFC 8252, section 7) [redirect-kind-off]
        policy.yaml:16:21: error: client `com.example.mail` has `http://127.0.0.1/callback`, but \
        `enforcement` lists no `loopback` in `redirects`; add it there (RFC 8252, section 7) \
        [redirect-kind-off]
        """),
    FindingCase(
      .s256Missing,
      "Only plain",
      edits: [("mode: enforce", "mode: enforce\n  pkce_methods: [plain]")],
      expected: """
        policy.yaml:11:17: warning: `plain` puts the verifier into the authorization request; remove it (RFC 7636, \
        section 7.2) [plain-enabled]
        policy.yaml:11:17: error: `pkce_methods` lacks `S256`, which every server has to support; add it \
        (RFC 7636, section 4.2) [s256-missing]
        """),
    FindingCase(
      .plainEnabled,
      "Plain for one client",
      mail: ["pkce_methods: [S256, plain]"],
      expected: """
        policy.yaml:16:19: warning: `plain` puts the verifier into the authorization request; remove it (RFC 7636, \
        section 7.2) [plain-enabled]
        """),
    FindingCase(
      .lenientPKCE,
      "Lenient verifiers",
      mail: ["pkce_syntax: lenient"],
      expected: """
        policy.yaml:16:18: warning: `pkce_syntax: lenient` accepts base64 padding in verifiers; use `strict` \
        (RFC 7636, section 4.1) [lenient-pkce-syntax]
        """),
    FindingCase(
      .stateOff,
      "State not looked at",
      edits: [("mode: enforce", "mode: enforce\n  state: off")],
      expected: """
        policy.yaml:11:10: warning: `state: off` does not even log requests without state; use `report` or \
        `require` (RFC 8252, section 8.9) [state-off]
        """),
    FindingCase(
      .localhostAnyPort,
      "localhost on any port",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['http://localhost/callback']
            localhost: any_port
        """,
      expected: """
        policy.yaml:16:16: warning: `localhost: any_port` trusts name resolution on the user's machine; have \
        apps use `127.0.0.1` and `[::1]` (RFC 8252, section 8.3) [localhost-any-port]
        """),
    FindingCase(
      .minimumSchemes,
      "Schemes with a period",
      edits: [("mode: enforce", "mode: enforce\n  schemes: minimum")],
      expected: """
        policy.yaml:11:12: warning: `schemes: minimum` accepts schemes that are not a reversed domain name; \
        use `strict` (RFC 8252, sections 7.1 and 8.4) [minimum-schemes]
        """),
    FindingCase(
      .embeddedUserAgentsOff,
      "Embedded user agents not looked for",
      edits: [("mode: enforce", "mode: enforce\n  embedded_user_agents: off")],
      expected: """
        policy.yaml:11:25: warning: `embedded_user_agents: off` does not look for logins in an app's web \
        view; use `report` or `block` (RFC 8252, section 8.12) [embedded-user-agents-off]
        """),
    FindingCase(
      .codeLifetime,
      "Codes that live too long",
      edits: [("mode: enforce", "mode: enforce\n  code_lifetime: 11m")],
      expected: """
        policy.yaml:11:18: error: `code_lifetime` cannot be `11m`; codes live at most 10 minutes, use `10m` \
        or less (RFC 6749, section 4.1.2) [code-lifetime]
        """),
    FindingCase(
      .deviceCodeLifetime,
      "Device codes that live too long",
      edits: [("mode: enforce", "mode: enforce\n  device_code_lifetime: 7200s")],
      expected: """
        policy.yaml:11:25: error: `device_code_lifetime` cannot be `2h`; device codes live at most 30 \
        minutes, use `30m` or less (RFC 8628, section 5.4) [device-code-lifetime]
        """),
    FindingCase(
      .refreshReuseWindow,
      "A window in which refresh tokens may be used again",
      edits: [("mode: enforce", "mode: enforce\n  refresh_reuse_window: 5m")],
      expected: """
        policy.yaml:11:25: warning: `refresh_reuse_window` repeats the answer for a used refresh token for a while, \
        also to a thief; use `30s` or less (RFC 9700, section 4.14.2) [refresh-reuse-window]
        """),
    FindingCase(
      .refreshReuseWindow,
      "A window that is no window",
      edits: [("mode: enforce", "mode: enforce\n  refresh_reuse_window: 11m")],
      expected: """
        policy.yaml:11:25: error: `refresh_reuse_window` cannot be `11m`; it is for requests that overlap or are \
        repeated, use `10m` or less (RFC 9700, section 4.14.2) [refresh-reuse-window]
        """),
    FindingCase(
      .invalidValue,
      "An idle time in fractions of a second",
      edits: [("mode: enforce", "mode: enforce\n  refresh_idle: 60500ms")],
      expected: """
        policy.yaml:11:17: error: `refresh_idle` is counted in whole seconds; use a unit of `s`, `m` or `h`
        """),
    FindingCase(
      .invalidValue,
      "An idle time of nothing",
      edits: [("mode: enforce", "mode: enforce\n  refresh_idle: 0s")],
      expected: """
        policy.yaml:11:17: error: `refresh_idle` cannot be `0s`; use 1m to 87600h
        """),
    FindingCase(
      .rawRefresh,
      "Refresh tokens from before the gateway",
      edits: [("raw_refresh_until: never", "raw_refresh_until: 2027-03-31")],
      expected: """
        policy.yaml:11:22: warning: `raw_refresh_until` accepts refresh tokens that are not bound to a client here, \
        until the end of 2027-03-31 (UTC); use `never` when the apps have used theirs once (RFC 6749, section 10.4) \
        [raw-refresh-tokens]
        """),
    FindingCase(
      .rawRefresh,
      "Refresh tokens from before the gateway, after their date",
      edits: [("raw_refresh_until: never", "raw_refresh_until: 2020-03-31")],
      expected: """
        policy.yaml:11:22: warning: `raw_refresh_until` is past, so refresh tokens from before the gateway are refused \
        since 2020-03-31 (UTC); write `never`, or a later date (RFC 6749, section 10.4) [raw-refresh-tokens]
        """),
    FindingCase(
      .invalidValue,
      "A day that the month does not have",
      edits: [("raw_refresh_until: never", "raw_refresh_until: 2027-02-29")],
      expected: """
        policy.yaml:11:22: error: `raw_refresh_until` cannot be `2027-02-29`; use a date such as `2027-03-31`, or `never`
        """),
    FindingCase(
      .invalidValue,
      "A date in another spelling",
      edits: [("raw_refresh_until: never", "raw_refresh_until: 31.03.2027")],
      expected: """
        policy.yaml:11:22: error: `raw_refresh_until` cannot be `31.03.2027`; use a date such as `2027-03-31`, or `never`
        """),
    FindingCase(
      .pushedAuthorization,
      "Pushed requests without a path for them",
      edits: [("mode: enforce", "mode: enforce\n  pushed_authorization: required")],
      expected: """
        policy.yaml:11:25: error: `pushed_authorization: required` needs a path where clients push; add \
        `pushed_authorization: /par` to `endpoints` (RFC 9126, section 2) [pushed-authorization]
        """),
  ]
}
