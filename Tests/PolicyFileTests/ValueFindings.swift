import Testing

@testable import PolicyFile

@Suite("Findings about values")
struct ValueFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .conflict,
      "One URL and several",
      edits: [("  url: http://127.0.0.1:9000\n", "  url: http://127.0.0.1:9000\n  urls: [http://127.0.0.1:9001]\n")],
      expected: """
        policy.yaml:7:3: error: `url` and `urls` exclude each other; move the URL into `urls`
        """),
    FindingCase(
      .missingKey,
      "Several servers without an affinity",
      edits: [("url: http://127.0.0.1:9000\n", "urls: [http://127.0.0.1:9000, 'unix:/run/legacy.sock']\n")],
      expected: """
        policy.yaml:6:1: error: `upstream` has no `affinity`; add the name of the servers' session cookie, such as \
        `JSESSIONID`; `address`; or `none` if any server can serve any request
        """),
    FindingCase(
      .conflict,
      "Servers with different schemes",
      edits: [
        ("url: http://127.0.0.1:9000\n", "urls: [http://127.0.0.1:9000, https://b.example.com]\n  affinity: none\n")
      ],
      expected: """
        policy.yaml:7:33: error: `urls` cannot have http and https URLs; use one scheme for all servers
        """),
    FindingCase(
      .conflict,
      "A Unix socket in front of an https URL",
      edits: [
        ("url: http://127.0.0.1:9000\n", "urls: ['unix:/run/legacy.sock', https://b.example.com]\n  affinity: none\n")
      ],
      expected: """
        policy.yaml:7:9: error: `urls` has an https URL, but its first server is a Unix socket, which is used without TLS; \
        put the https URL first, or add `tls: { server_name: NAME }`
        """),
    FindingCase(
      .conflict,
      "A Unix socket with TLS in front of an http URL",
      edits: [
        (
          "url: http://127.0.0.1:9000\n",
          "urls: ['unix:/run/legacy.sock', http://127.0.0.1:9000]\n  affinity: none\n  tls: { server_name: a.example }\n"
        )
      ],
      expected: """
        policy.yaml:7:9: error: `urls` has an http URL, but `tls` is for all servers; use https, or remove `tls`
        policy.yaml:7:9: error: the certificate of `a.example` cannot be verified: this machine has no authorities; name a \
        PEM file in `tls: { ca: FILE }` (RFC 9700, section 4.13) [upstream-ca]
        """),
    FindingCase(
      .invalidValue,
      "A word as an affinity",
      edits: [
        ("url: http://127.0.0.1:9000\n", "urls: ['unix:/run/a', http://127.0.0.1:9000]\n  affinity: Address\n")
      ],
      expected: """
        policy.yaml:8:13: error: `affinity` cannot be `Address`, which is hardly the name of a session cookie of the \
        servers; use `none`, `address` or that name
        """),
    FindingCase(
      .duplicateValue,
      "Listeners that need the same port",
      edits: [
        (
          "listeners: [{ address: 127.0.0.1:8080 }]",
          "listeners: [{ address: 127.0.0.1:8080 }, { address: 0.0.0.0:8080 }, { address: '[::1]:81' }, "
            + "{ address: '[0::1]:81' }]\n  trusted_proxies: 127.0.0.1"
        )
      ],
      expected: """
        policy.yaml:4:44: error: `0.0.0.0:8080` and the listener in line 4 both need port 8080; remove one, or give it \
        another port
        policy.yaml:4:96: error: `[0::1]:81` and the listener in line 4 both need port 81; remove one, or give it another \
        port
        """),
    FindingCase(
      .conflict,
      "The PROXY protocol from Unix sockets that are not trusted",
      edits: [
        (
          "listeners: [{ address: 127.0.0.1:8080 }]",
          "listeners: [{ address: 'unix:/run/p.sock', proxy_protocol: true }]\n  trusted_proxies: 127.0.0.1"
        )
      ],
      expected: """
        policy.yaml:4:15: error: `proxy_protocol` is accepted only from `trusted_proxies`, which does not contain `unix`; \
        add it
        """),
    FindingCase(
      .trustEveryone,
      "A trusted Unix socket for every program",
      edits: [
        (
          "listeners: [{ address: 127.0.0.1:8080 }]",
          "listeners: [{ address: 'unix:@p' }, { address: 'unix:/run/p.sock', mode: '0666' }]\n  trusted_proxies: unix"
        )
      ],
      expected: """
        policy.yaml:4:15: warning: every program on this machine may connect to `unix:@p`, which `trusted_proxies` trusts; \
        use a path with `mode: "0660"` [trust-everyone]
        policy.yaml:4:39: warning: every program on this machine may connect to `unix:/run/p.sock`, which \
        `trusted_proxies` trusts; use a path with `mode: "0660"` [trust-everyone]
        """),
    FindingCase(
      .invalidValue,
      "A path of a socket with two slashes",
      edits: [("url: http://127.0.0.1:9000", "url: unix:/run//legacy.sock")],
      expected: """
        policy.yaml:7:8: error: `url` cannot be `unix:/run//legacy.sock`; write the path without `//`, `.`, `..` and a \
        slash at the end
        """),
    FindingCase(
      .duplicateValue,
      "The same server and the same status twice",
      edits: [
        (
          "url: http://127.0.0.1:9000\n",
          "urls: [http://127.0.0.1:9000, http://127.0.0.1:9000/]\n  failure_statuses: [503, 503]\n"
        )
      ],
      expected: """
        policy.yaml:7:33: error: `http://127.0.0.1:9000` occurs twice in `urls`; keep one
        policy.yaml:8:27: error: `503` occurs twice in `failure_statuses`; keep one
        """),
    FindingCase(
      .invalidValue,
      "Errors of the server that mean no OAuth error, or a status that says nothing",
      edits: [
        (
          "url: http://127.0.0.1:9000\n",
          "url: http://127.0.0.1:9000\n  errors: { dead: expired, 429: invalid_grant }\n"
        )
      ],
      expected: """
        policy.yaml:8:19: error: `dead` cannot be `expired`; use `invalid_grant`, `invalid_client`, `invalid_request`, \
        `invalid_scope`, `unauthorized_client`, `unsupported_grant_type`, `server_error` or `temporarily_unavailable`
        policy.yaml:8:28: error: `errors` cannot hold `429`, which says nothing about the code or token; remove it
        """),
    FindingCase(
      .wrongType,
      "Errors of the server as a list",
      edits: [("url: http://127.0.0.1:9000\n", "url: http://127.0.0.1:9000\n  errors: [dead]\n")],
      expected: """
        policy.yaml:8:11: error: `errors` must be a mapping of words to OAuth errors, such as `{ OAuthException: \
        invalid_grant }`, not a list
        """),
    FindingCase(
      .invalidValue,
      "Endpoints that the query chooses",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /oauth.php?action=authorize, token: '/?oauth=token' }"
        )
      ],
      expected: """
        policy.yaml:8:31: error: `authorization` cannot be `/oauth.php?action=authorize`: the gateway knows endpoints by their \
        path alone; give each endpoint of the server a path of its own, for example by a rewrite rule in front of the server
        policy.yaml:8:67: error: `token` cannot be `/?oauth=token`: the gateway knows endpoints by their path alone; give each \
        endpoint of the server a path of its own, for example by a rewrite rule in front of the server
        """),
    FindingCase(
      .invalidValue,
      "A `Host` that is a URL",
      edits: [("url: http://127.0.0.1:9000\n", "url: http://127.0.0.1:9000\n  host: https://id.example.com\n")],
      expected: """
        policy.yaml:8:9: error: `host` cannot be `https://id.example.com`; use `origin`, `upstream`, or a host such as \
        `id.example.com` or `id.example.com:8443`
        """),
    FindingCase(
      .invalidValue,
      "An affinity that is no cookie name, and too many servers",
      edits: [
        (
          "url: http://127.0.0.1:9000\n",
          "urls: [\((1...17).map { "http://127.0.0.1:\(9000 + $0)" }.joined(separator: ", "))]\n"
            + "  affinity: my cookie\n  failure_statuses: 404\n"
        )
      ],
      expected: """
        policy.yaml:7:9: error: `urls` has 17 URLs; use at most 16
        policy.yaml:8:13: error: `affinity` cannot be `my cookie`; use `none`, `address` or the name of a cookie of at \
        most 64 characters
        policy.yaml:9:21: error: `failure_statuses` cannot be `404`; use a whole number from 500 to 599
        """),
    FindingCase(
      .conflict,
      "A health check that is longer than its interval, and other values that it cannot have",
      edits: [
        (
          "url: http://127.0.0.1:9000\n",
          "url: http://127.0.0.1:9000\n  health_check: { path: health, interval: 2s, statuses: [200, 200, 700] }\n"
        )
      ],
      expected: """
        policy.yaml:8:25: error: `path` cannot be `health`; a path begins with `/`
        policy.yaml:8:43: error: `timeout` 2s is not shorter than `interval` 2s; make it shorter, so that a check ends \
        before the next begins
        policy.yaml:8:63: error: `200` occurs twice in `statuses`; keep one
        policy.yaml:8:68: error: `statuses` cannot be `700`; use a whole number from 200 to 599
        """),
    FindingCase(
      .missingKey,
      "A health check without a path",
      edits: [("url: http://127.0.0.1:9000\n", "url: http://127.0.0.1:9000\n  health_check: { interval: 1m }\n")],
      expected: """
        policy.yaml:8:3: error: `health_check` has no `path`; add the path to request, such as `/health`
        """),
    FindingCase(
      .conflict,
      "A second server that is the gateway itself",
      edits: [
        ("url: http://127.0.0.1:9000\n", "urls: [http://127.0.0.1:9000, http://127.0.0.1:8080]\n  affinity: address\n")
      ],
      expected: """
        policy.yaml:7:9: error: `url` is the gateway's own listener in line 4, so requests would loop; use the address \
        of the server
        """),
    FindingCase(
      .invalidValue,
      "A header glob that matches what OAuth needs",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  strip_headers: [x-sso, auth*]"
        )
      ],
      expected: """
        policy.yaml:9:26: error: `strip_headers` cannot hold `auth*`; it matches `authorization`, without which \
        requests do not work
        """),
    FindingCase(
      .invalidValue,
      "A header glob that matches everything",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  strip_headers: '*x*'"
        )
      ],
      expected: """
        policy.yaml:9:18: error: `strip_headers` cannot hold `*x*`; it would match nearly every field; write at least \
        two characters other than `*`
        """),
    FindingCase(
      .invalidValue,
      "A header to keep that is never forwarded",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  keep_headers: [iv-user, X_Original_URL]"
        )
      ],
      expected: """
        policy.yaml:9:27: error: `keep_headers` cannot hold `X_Original_URL`; the gateway never forwards \
        `x-original-url` of a client
        """),
    FindingCase(
      .invalidValue,
      "A header glob that is no name",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  keep_headers: 'iv user'"
        )
      ],
      expected: """
        policy.yaml:9:17: error: `keep_headers` cannot hold `iv user`; use a field name such as `X-SSO-User`, or \
        a glob such as `x-sso-*`
        """),
    FindingCase(
      .duplicateValue,
      "A header glob twice",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  strip_headers: [x-sso, X-SSO]"
        )
      ],
      expected: """
        policy.yaml:9:26: error: `X-SSO` occurs twice in `strip_headers`; keep one
        """),
    FindingCase(
      .invalidValue,
      "An unknown version",
      edits: [("version: 1", "version: 2")],
      expected: """
        policy.yaml:1:10: error: `version` cannot be `2`; this program reads version `1`
        """),
    FindingCase(
      .invalidValue,
      "A choice with a typo",
      edits: [("mode: enforce", "mode: enforce\n  state: reqiure")],
      expected: """
        policy.yaml:11:10: error: `state` cannot be `reqiure`; did you mean `require`?
        """),
    FindingCase(
      .invalidValue,
      "A choice that resembles nothing",
      edits: [("mode: enforce", "mode: enforce\n  state: yes")],
      expected: """
        policy.yaml:11:10: error: `state` cannot be `yes`; use `require`, `report` or `off`
        """),
    FindingCase(
      .invalidValue,
      "The mode of earlier versions",
      edits: [("mode: enforce", "mode: report")],
      expected: """
        policy.yaml:10:9: error: `mode: report` is no longer a value; use `mode: observe`, which changes nothing on \
        the wire
        """),
    FindingCase(
      .invalidValue,
      "The treatment of unknown clients in earlier versions",
      edits: [("mode: enforce", "mode: enforce\n  unknown_clients: pass")],
      expected: """
        policy.yaml:11:20: error: `unknown_clients: pass` is no longer a value; use `unknown_clients: observe`, which \
        changes nothing on the wire
        """),
    FindingCase(
      .invalidValue,
      "A number out of range",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  replicas: 0")],
      expected: """
        policy.yaml:6:13: error: `replicas` cannot be `0`; use a whole number from 1 to 10000
        """),
    FindingCase(
      .invalidValue,
      "A word for a number",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  workers: many")],
      expected: """
        policy.yaml:6:12: error: `workers` cannot be `many`; use a whole number from 1 to 1024, or `auto`
        """),
    FindingCase(
      .invalidValue,
      "A duration without a unit",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  drain_delay: 5")],
      expected: """
        policy.yaml:6:16: error: `drain_delay` cannot be `5`; use a whole number and a unit, such as \
        `250ms`, `60s`, `10m` or `1h`
        """),
    FindingCase(
      .invalidValue,
      "A duration out of range",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  connect_timeout: 1ms"
        )
      ],
      expected: """
        policy.yaml:9:20: error: `connect_timeout` cannot be `1ms`; use 10ms to 10m
        """),
    FindingCase(
      .invalidValue,
      "A size out of range",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  state_limit: 1MiB"
        )
      ],
      expected: """
        policy.yaml:9:16: error: `state_limit` cannot be `1MiB`; use 14 to 65536 bytes, such as `2048` or \
        `2KiB`
        """),
    FindingCase(
      .invalidValue,
      "A URL with a query",
      edits: [("origin: https://id.example.com", "origin: https://id.example.com?x")],
      expected: """
        policy.yaml:3:11: error: `origin` cannot be `https://id.example.com?x`; it must not have a query; \
        remove it from the `?` on
        """),
    FindingCase(
      .invalidValue,
      "An origin with a path",
      edits: [("origin: https://id.example.com", "origin: https://id.example.com/tenant")],
      expected: """
        policy.yaml:3:11: error: `origin` cannot have a path; use `https://id.example.com`, and `issuer` if \
        the issuer has a path
        """),
    FindingCase(
      .invalidValue,
      "A listener with a name",
      edits: [("listeners: [{ address: 127.0.0.1:8080 }]", "listeners: [{ address: localhost:8080 }]")],
      expected: """
        policy.yaml:4:26: error: `address` cannot be `localhost:8080`; a name is not an address, use \
        `127.0.0.1:8080`
        """),
    FindingCase(
      .invalidValue,
      "A listener without a port",
      edits: [("listeners: [{ address: 127.0.0.1:8080 }]", "listeners: [{ address: 127.0.0.1 }]")],
      expected: """
        policy.yaml:4:26: error: `address` cannot be `127.0.0.1`; use an address literal and a port, such as \
        `127.0.0.1:8080` or `[::]:8080`
        """),
    FindingCase(
      .invalidValue,
      "A block with bits behind its prefix",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  trusted_proxies: [10.1.0.0/8]")],
      expected: """
        policy.yaml:6:21: error: `trusted_proxies` cannot hold `10.1.0.0/8`; it has bits after the prefix; set them to \
        zero
        """),
    FindingCase(
      .invalidValue,
      "A value that is not a block",
      edits: [
        ("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  trusted_proxies: [everyone, 10.0.0.0/33]")
      ],
      expected: """
        policy.yaml:6:21: error: `trusted_proxies` cannot hold `everyone`; use an address, a block such as \
        `10.0.0.0/8` or `fd00::/8`, or `unix`
        policy.yaml:6:31: error: `trusted_proxies` cannot hold `10.0.0.0/33`; the prefix is a number from 0 \
        to 32
        """),
    FindingCase(
      .invalidValue,
      "An endpoint with dot segments",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /a/../authorize, token: token }"
        )
      ],
      expected: """
        policy.yaml:8:31: error: `authorization` cannot be `/a/../authorize`; write the path without dot \
        segments
        policy.yaml:8:55: error: `token` cannot be `token`; a path begins with `/`
        """),
    FindingCase(
      .invalidValue,
      "A parameter that the gateway sets",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  parameters: [state]"
        )
      ],
      expected: """
        policy.yaml:9:16: error: `parameters` cannot hold `state`, which the gateway sets itself; remove it
        """),
    FindingCase(
      .invalidValue,
      "Response parameters of the gateway, and texts that are no names",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  response_parameters: [realmId, code, Error.Description, "
            + "id_token, session_state, \"\", a b, realmId]"
        )
      ],
      expected: """
        policy.yaml:9:34: error: `response_parameters` cannot hold `code`, which the gateway sets or reads itself; remove it
        policy.yaml:9:40: error: `response_parameters` cannot hold `Error.Description`, which the gateway sets or reads \
        itself; remove it
        policy.yaml:9:59: error: `response_parameters` cannot hold `id_token`, which the gateway sets or reads itself; \
        remove it
        policy.yaml:9:69: error: `response_parameters` cannot hold `session_state`, which the gateway sets or reads itself; \
        remove it
        policy.yaml:9:84: error: `response_parameters` is empty; give a value or remove the key
        policy.yaml:9:88: error: `response_parameters` cannot hold `a b`; use names of letters, digits, `-`, `.` and `_`, of \
        at most 64 characters
        policy.yaml:9:93: error: `realmId` occurs twice in `response_parameters`; keep one
        """),
    FindingCase(
      .invalidValue,
      "Too many response parameters, and one that is too long",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n"
            + "  response_parameters: [a, b, c, d, e, f, g, h, i, \(String(repeating: "x", count: 65))]"
        )
      ],
      expected: """
        policy.yaml:9:24: error: `response_parameters` has 9 names; use at most 8
        policy.yaml:9:52: error: `response_parameters` cannot hold `\(String(repeating: "x", count: 65))`; use names of \
        letters, digits, `-`, `.` and `_`, of at most 64 characters
        """),
    FindingCase(
      .invalidValue,
      "A code lifetime in fractions of a second",
      edits: [("mode: enforce", "mode: enforce\n  code_lifetime: 1500ms")],
      expected: """
        policy.yaml:11:18: error: `code_lifetime` is counted in whole seconds; use a unit of `s`, `m` or `h`
        """),
    FindingCase(
      .invalidValue,
      "A switch that is neither on nor off",
      edits: [
        ("listeners: [{ address: 127.0.0.1:8080 }]", "listeners: [{ address: 127.0.0.1:8080, proxy_protocol: yes }]")
      ],
      expected: """
        policy.yaml:4:58: error: `proxy_protocol` cannot be `yes`; use `true` or `false`
        """),
    FindingCase(
      .conflict,
      "A secret from two places",
      mail: ["upstream: { client_secret: { file: keys, env: LEGACY_SECRET } }"],
      expected: """
        policy.yaml:16:32: error: `client_secret` needs either `file` or `env`; give one of them
        """),
    FindingCase(
      .conflict,
      "A drain that ends before it begins",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  drain_delay: 1m\n  drain_timeout: 1m")],
      expected: """
        policy.yaml:7:18: error: `drain_timeout` leaves nothing after `drain_delay`, which is part of it; \
        make it longer than `1m`
        """),
    FindingCase(
      .unreadableSecret,
      "A secret file that does not exist",
      mail: ["upstream: { client_secret: { file: missing } }"],
      expected: """
        policy.yaml:16:40: error: secret file `missing` does not exist; create it, or name another
        """),
    FindingCase(
      .unreadableSecret,
      "A secret file that is empty",
      mail: ["upstream: { client_secret: { file: empty } }"],
      files: ["empty": "\n"],
      expected: """
        policy.yaml:16:40: error: secret file `empty` is empty; put the secret into it
        """),
    FindingCase(
      .unreadableSecret,
      "A secret file that is a directory",
      mail: ["upstream: { client_secret: { file: . } }"],
      expected: """
        policy.yaml:16:40: error: secret file `.` is a directory; name a file in it
        """),
    FindingCase(
      .unreadableSecret,
      "A variable that is not set, and one that is empty",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: [com.example.mail:/callback]
            upstream: { client_secret: { env: NOWHERE } }
          - id: b
            type: public
            redirect_uris: [com.example.b:/callback]
            upstream: { client_secret: { env: EMPTY } }
        """,
      expected: """
        policy.yaml:16:39: error: environment variable `NOWHERE` is not set; set it or use `file`
        policy.yaml:20:39: error: environment variable `EMPTY` is empty; put the secret into it
        """),
    FindingCase(
      .inlineSecret,
      "A secret in the policy",
      mail: ["upstream: { client_secret: hunter2 }"],
      expected: """
        policy.yaml:16:32: error: `client_secret` must not be in the policy itself; use `{ file: PATH }` or `{ env: \
        NAME }`
        """),
    FindingCase(
      .exposedSecretFile,
      "A secret file for everybody",
      mail: ["upstream: { client_secret: { file: open } }"],
      files: ["open": "secret\n"],
      expected: """
        policy.yaml:16:40: warning: every user of this machine can read `open`; use `chmod o-r` [world-readable-secret]
        """),
    FindingCase(
      .invalidValue,
      "Limits that are none",
      edits: [
        (
          "sealing_keys: { file: keys }",
          "sealing_keys: { file: keys }\n  limits: { header_bytes: 1MiB, minimum_rate: fast, token_requests_per_client: 0 }"
        )
      ],
      expected: """
        policy.yaml:6:27: error: `header_bytes` cannot be `1MiB`; use 1024 to 16384 bytes, such as `2048` or \
        `2KiB`
        policy.yaml:6:47: error: `minimum_rate` cannot be `fast`; use 1 to 1048576 bytes, such as `2048` or \
        `2KiB`, or `off`
        policy.yaml:6:80: error: `token_requests_per_client` cannot be `0`; use a whole number from 1 to \
        10000000, or `off`
        """),
    FindingCase(
      .conflict,
      "A target that is longer than its head",
      edits: [
        (
          "sealing_keys: { file: keys }",
          "sealing_keys: { file: keys }\n  limits: { header_bytes: 4KiB, target_length: 8KiB }"
        )
      ],
      expected: """
        policy.yaml:6:48: error: `target_length` 8192 does not fit into `header_bytes` 4096; make it shorter
        """),
    FindingCase(
      .conflict,
      "All connections kept for the OAuth endpoints",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /authorize, token: /token }\n  reserved_connections: 8\n  max_connections: 8"
        )
      ],
      expected: """
        policy.yaml:9:25: error: `reserved_connections` 8 leaves none of `max_connections` 8 for other requests; make \
        it smaller
        """),
    FindingCase(
      .conflict,
      "The PROXY protocol without trusted senders",
      edits: [
        ("listeners: [{ address: 127.0.0.1:8080 }]", "listeners: [{ address: 127.0.0.1:8080, proxy_protocol: true }]")
      ],
      expected: """
        policy.yaml:4:15: error: `proxy_protocol` is accepted only from `trusted_proxies`, which is empty; list the \
        proxies that send it
        """),
    FindingCase(
      .notYetSupported,
      "An observed device client",
      clients: """
        clients:
          - { id: tv, name: TV, type: public, application: device, grants: [device_code], mode: observe }

        """,
      expected: """
        policy.yaml:13:89: warning: `mode: observe` refuses nothing; use `enforce` once the log shows that apps comply \
        [observe-mode]
        policy.yaml:13:60: error: client `tv` is observed, and the device grant is not supported in `mode: observe` \
        yet; use `enforce`
        """),
    FindingCase(
      .conflict,
      "An endpoint of the server at the path of the device page",
      edits: [("token: /token", "token: /device")],
      clients: """
        clients:
          - { id: tv, name: TV, type: public, application: device }

        """,
      expected: """
        policy.yaml:8:3: error: the server has an endpoint at `/device`, where the gateway serves device clients; let \
        the server use another path
        """),
  ]
}
