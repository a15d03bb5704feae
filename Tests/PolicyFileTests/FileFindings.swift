import Testing

@testable import PolicyFile

@Suite("Findings about the file itself")
struct FileFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .unreadableFile,
      "A file that does not exist",
      clients: """
        clients: { include: other.yaml }
        """,
      expected: """
        policy.yaml:12:21: error: policy file `other.yaml` does not exist; check the path
        """),
    FindingCase(
      .invalidValue,
      "A file of the access log below another file",
      edits: [
        ("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  access_log: { to: { file: /dev/null/x } }")
      ],
      expected: """
        policy.yaml:6:29: error: `/dev/null/x` is below `/dev/null`, which is a file; name a directory
        """),
    FindingCase(
      .invalidValue,
      "A syslog server at a path that is no socket",
      edits: [
        ("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  access_log: { to: { syslog: /dev/null } }")
      ],
      expected: """
        policy.yaml:6:31: error: `/dev/null` is not a socket; name the one of the syslog server
        """),
    FindingCase(
      .invalidValue,
      "HTTP/2 as a protocol to switch to",
      edits: [("url: http://127.0.0.1:9000", "url: http://127.0.0.1:9000\n  upgrades: [websocket, h2]")],
      expected: """
        policy.yaml:8:25: error: `upgrades` cannot hold `h2`; use lower-case protocol names such as `websocket`
        """),
    FindingCase(
      .invalidYAML,
      "Text that is not YAML",
      text: """
        version: 1
        gateway: [
        """,
      expected: """
        policy.yaml:3:1: error: not valid YAML: while parsing a flow node, did not find expected node \
        content
        """),
    FindingCase(
      .invalidYAML,
      "A repeated key",
      edits: [("origin: https://id.example.com", "origin: https://id.example.com\n  origin: https://id.example.com")],
      expected: """
        policy.yaml:4:3: error: key `origin` occurs twice, first in line 3; keep one
        """),
    FindingCase(
      .invalidYAML,
      "An anchor",
      edits: [("origin: https://id.example.com", "origin: &here https://id.example.com")],
      expected: """
        policy.yaml:3:11: error: anchor `&here` is not supported; write the value out
        """),
    FindingCase(
      .invalidYAML,
      "An alias",
      text: """
        version: *one
        """,
      expected: """
        policy.yaml:1:10: error: alias `*one` is not supported; write the value out
        """),
    FindingCase(
      .invalidYAML,
      "A tag",
      text: """
        version: !!int 1
        """,
      expected: """
        policy.yaml:1:10: error: tag `tag:yaml.org,2002:int` is not supported; remove it
        """),
    FindingCase(
      .invalidYAML,
      "A merge key",
      text: """
        version: 1
        <<: { a: b }
        """,
      expected: """
        policy.yaml:2:1: error: merge key `<<` is not supported; write the keys out
        """),
    FindingCase(
      .invalidYAML,
      "A second document",
      text: """
        version: 1
        ---
        version: 1
        """,
      expected: """
        policy.yaml:2:1: error: a second document starts here; keep one document per file
        """),
    FindingCase(
      .invalidYAML,
      "A directive",
      text: """
        %TAG ! tag:example.com,2000:
        ---
        version: 1
        """,
      expected: """
        policy.yaml:1:1: error: a tag directive is not supported; remove it
        """),
    FindingCase(
      .invalidYAML,
      "An empty file",
      text: """
        # nothing
        """,
      expected: """
        policy.yaml:1:1: error: the file is empty; write its keys, or name another file
        """),
    FindingCase(
      .invalidYAML,
      "A key that is a list",
      text: """
        version: 1
        ? [a]
        : b
        """,
      expected: """
        policy.yaml:2:3: error: a key must be plain text
        """),
    FindingCase(
      .invalidYAML,
      "A control character",
      text: "version: \u{7}\n",
      expected: """
        policy.yaml:1:10: error: not valid YAML: control characters are not allowed; remove this character
        """),
    FindingCase(
      .unknownKey,
      "A misspelt key",
      edits: [("origin: https://id.example.com", "orign: https://id.example.com")],
      expected: """
        policy.yaml:3:3: error: unknown key `orign` in `gateway`; did you mean `origin`?
        """),
    FindingCase(
      .unknownKey,
      "A key of another section",
      edits: [("mode: enforce", "mode: enforce\n  listeners: []")],
      expected: """
        policy.yaml:11:3: error: unknown key `listeners` in `enforcement`; it belongs to `gateway`
        """),
    FindingCase(
      .unknownKey,
      "A key that resembles nothing",
      edits: [("sealing_keys: { file: keys }", "sealing_keys: { file: keys }\n  colour: blue")],
      expected: """
        policy.yaml:6:3: error: unknown key `colour` in `gateway`; use `origin`, `issuer`, `listeners`, `http2`, \
        `admin`, `admin_hosts`, `workers`, `replicas`, `store`, `store_password`, `store_sentinel_password`, `store_ca`, \
        `store_key_prefix`, `store_min_replicas`, `store_size`, `store_epoch`, `branding`, `limits`, `sealing_keys`, \
        `trusted_proxies`, `half_close`, `tcp_keepalive`, `tcp_user_timeout`, `drain_delay`, `drain_timeout`, \
        `strict_transport_security`, `metadata`, `metadata_lifetime`, `scopes_supported`, `log_overflow`, `log_spool`, `log_spool_size`, `access_log`, `notices`, `request_ids`, `trace_context` or `cors_origins`
        """),
    FindingCase(
      .unknownKey,
      "A problem in an included file",
      clients: """
        clients: { include: 'd/*.yaml' }
        """,
      files: ["d/b.yaml": "clients:\n  - id: b\n    tpye: public\n", "d/a.yaml": "- id: a\n  type: public\n"],
      expected: """
        d/a.yaml:1:7: error: client `a` has the authorization code grant and no redirect URI; add \
        `redirect_uris` (RFC 6749, section 3.1.2.2) [no-redirect-uri]
        d/b.yaml:3:5: error: unknown key `tpye` in `client`; did you mean `type`?
        """),
    FindingCase(
      .missingKey,
      "A policy without gateway and upstream",
      text: """
        version: 1
        """,
      expected: """
        policy.yaml:1:1: error: the policy has no `gateway`; add a mapping with `origin` and `listeners`
        policy.yaml:1:1: error: the policy has no `upstream`; add a mapping with `url` and `endpoints`
        """),
    FindingCase(
      .missingKey,
      "A gateway and an upstream without what they need",
      edits: [
        ("origin: https://id.example.com", "workers: 2"), ("  listeners: [{ address: 127.0.0.1:8080 }]\n", ""),
        ("  url: http://127.0.0.1:9000\n", ""),
        ("  endpoints: { authorization: /authorize, token: /token }\n", "  pkce: strip\n"),
      ],
      expected: """
        policy.yaml:2:1: error: `gateway` has no `origin`; add the URL at which clients reach it, or \
        `issuer`
        policy.yaml:2:1: error: `gateway` has no `listeners`; add a list such as `- address: 127.0.0.1:8080`
        policy.yaml:5:1: error: `upstream` has no `url`; add its URL
        policy.yaml:5:1: error: `upstream` has no `endpoints`; add a mapping with `authorization` and \
        `token`
        """),
    FindingCase(
      .missingKey,
      "Endpoints without a token endpoint",
      edits: [("endpoints: { authorization: /authorize, token: /token }", "endpoints: { authorization: /authorize }")],
      expected: """
        policy.yaml:8:3: error: `endpoints` has no `token`; add its path, such as `/token`
        """),
    FindingCase(
      .missingKey,
      "A client without id",
      clients: """
        clients:
          - type: public
            redirect_uris: [com.example.mail:/callback]
        """,
      expected: """
        policy.yaml:13:5: error: the client has no `id`; add the identifier that it sends as `client_id`
        """),
    FindingCase(
      .missingValue,
      "A key without value",
      edits: [("origin: https://id.example.com", "origin:\n  issuer: https://id.example.com")],
      expected: """
        policy.yaml:3:3: error: `origin` has no value; give one or remove the key
        """),
    FindingCase(
      .missingValue,
      "An empty list",
      edits: [("listeners: [{ address: 127.0.0.1:8080 }]", "listeners: []")],
      expected: """
        policy.yaml:4:14: error: `listeners` is empty; add an item such as `- address: 127.0.0.1:8080`
        """),
    FindingCase(
      .wrongType,
      "A section that is a list",
      text: """
        version: 1
        gateway: []
        upstream: here
        """,
      expected: """
        policy.yaml:2:10: error: `gateway` must be a mapping, not a list
        policy.yaml:3:11: error: `upstream` must be a mapping, not text
        """),
    FindingCase(
      .wrongType,
      "A value that is a mapping",
      edits: [("origin: https://id.example.com", "origin: { host: id.example.com }")],
      expected: """
        policy.yaml:3:11: error: `origin` must be text, not a mapping
        """),
    FindingCase(
      .duplicateValue,
      "A client id that occurs twice",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: [com.example.mail:/callback]
          - id: com.example.mail
            type: public
            redirect_uris: [com.example.mail:/other]
        """,
      expected: """
        policy.yaml:16:9: error: client `com.example.mail` occurs twice, first in line 13; remove one
        """),
    FindingCase(
      .duplicateValue,
      "An address that is listened on twice",
      edits: [
        (
          "listeners: [{ address: 127.0.0.1:8080 }]",
          "listeners: [{ address: 127.0.0.1:8080 }, { address: 127.0.0.1:8080 }]"
        )
      ],
      expected: """
        policy.yaml:4:44: error: address `127.0.0.1:8080` is listened on twice, first in line 4; remove one
        """),
    FindingCase(
      .duplicateValue,
      "A path that is two endpoints",
      edits: [
        (
          "endpoints: { authorization: /authorize, token: /token }",
          "endpoints: { authorization: /oauth, token: /oauth }"
        )
      ],
      expected: """
        policy.yaml:8:46: error: path `/oauth` is both `authorization` and `token`; a path is one endpoint, so \
        give a server that chooses the endpoint by the query a path for each
        """),
    FindingCase(
      .include,
      "A star in a directory",
      clients: """
        clients: { include: '*/clients.yaml' }
        """,
      expected: """
        policy.yaml:12:21: error: `*/clients.yaml` has a `*` in a directory; it is for the file's name only
        """),
    FindingCase(
      .include,
      "A pattern that names nothing",
      clients: """
        clients:
          - include: '*.client.yaml'
        """,
      expected: """
        policy.yaml:13:14: warning: `*.client.yaml` names no file; remove it or add one
        """),
    FindingCase(
      .include,
      "A file that is included twice",
      clients: """
        clients: { include: [a.yaml, a.yaml] }
        """,
      files: ["a.yaml": "- { id: a, type: public, redirect_uris: [com.example.a:/callback] }\n"],
      expected: """
        policy.yaml:12:30: error: `a.yaml` is included twice; name it once
        """),
    FindingCase(
      .include,
      "An included file that includes",
      clients: """
        clients: { include: a.yaml }
        """,
      files: ["a.yaml": "- include: b.yaml\n"],
      expected: """
        a.yaml:1:3: error: an included file cannot include others; name them in the policy itself
        """),
  ]
}
