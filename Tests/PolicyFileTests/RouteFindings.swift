import Policy
import Testing
import Time

@testable import PolicyFile

@Suite("Findings about routes")
struct RouteFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  /// A value for every setting of a route.
  static let complete = """
    routes:
      - prefix: /Upload/
        body: 10MiB
        request_buffer: off
        body_timeout: 5m
        tunnel_timeout: 3h
        request_timeout: 2h
        response_timeout: 90s
        request_headers: { set: { X-Zone: "a, b: c", X-Hop: d }, remove: [Accept-Encoding, Range] }
        response_headers: { set: { Cache-Control: no-store }, remove: Server }
      - prefix: /files

    """

  @Test("Every setting of a route reaches the policy")
  func values() throws {
    let outcome = try PolicyValuesTests.load(FindingCase.base + Self.complete)
    let routes = try #require(outcome.policy?.routes, "\(outcome.diagnostics)")
    var first = RouteSettings()
    first.prefix = "/Upload/"
    first.bodyLimit = 10 << 20
    first.requestBuffer = 0
    first.bodyTimeout = 300_000
    first.tunnelTimeout = 10_800_000
    first.requestTimeout = 7_200_000
    first.responseTimeout = 90_000
    first.requestHeaders.set = [.init(name: "X-Zone", value: "a, b: c"), .init(name: "X-Hop", value: "d")]
    first.requestHeaders.removed = ["Accept-Encoding", "Range"]
    first.responseHeaders.set = [.init(name: "Cache-Control", value: "no-store")]
    first.responseHeaders.removed = ["Server"]
    var second = RouteSettings()
    second.prefix = "/files"
    #expect(routes == [first, second])
  }

  @Test(
    "No route changes a field on which framing, routing, identity or cookies depend",
    arguments: [
      "Connection", "content-length", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Keep-Alive", "Expect",
      "Proxy-Connection", "HTTP2-Settings", "Content-Encoding", "X-Request-ID", "Traceparent", "Sec-Fetch-Site",
    ])
  func protectedFields(_ name: String) {
    for message in [ChangedMessage.request, .response] { #expect(message.protection(of: name) != nil) }
  }

  @Test("The fields of a direction are protected in this direction")
  func protectedInOneDirection() {
    for name in [
      "Host", "Forwarded", "X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded", "Via", "Authorization", "Cookie",
      "Proxy-Authorization", "Content-Type", "Origin", "X-Original-URL", "X-Rewrite-Url", "X-HTTP-Method-Override",
      "Proxy", "Path-Info",
    ] {
      #expect(ChangedMessage.request.protection(of: name) != nil, "\(name)")
    }
    for name in ["Set-Cookie", "Location", "Refresh", "Link", "Strict-Transport-Security", "Date", "Clear-Site-Data"] {
      #expect(ChangedMessage.response.protection(of: name) != nil, "\(name)")
    }
    for name in ["Accept-Encoding", "X-Zone", "User-Agent"] {
      #expect(ChangedMessage.request.protection(of: name) == nil, "\(name)")
    }
    for name in ["Cache-Control", "Server", "X-Frame-Options", "Content-Security-Policy"] {
      #expect(ChangedMessage.response.protection(of: name) == nil, "\(name)")
    }
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .conflict,
      "Prefixes that contain an endpoint or lie below one",
      clients: """
        routes:
          - prefix: /
          - prefix: /Token
          - prefix: /authorize.php
          - prefix: /token/keys
          - prefix: /.well-known
          - prefix: /.well-known/acme-challenge
          - prefix: /tokens
        """,
      expected: """
        policy.yaml:13:13: error: prefix `/` contains `/authorize`, whose requests the gateway handles itself; use a \
        longer prefix, or `limits` for all paths
        policy.yaml:14:13: error: prefix `/Token` contains `/token`, whose requests the gateway handles itself; use a \
        longer prefix, or `limits` for all paths
        policy.yaml:15:13: error: prefix `/authorize.php` contains `/authorize`, whose requests the gateway handles itself; \
        use a longer prefix, or `limits` for all paths
        policy.yaml:16:13: error: prefix `/token/keys` lies below `/token`, where the gateway lets no request pass; use \
        another prefix
        policy.yaml:17:13: error: prefix `/.well-known` contains `/.well-known/oauth-protected-resource`, whose requests the \
        gateway handles itself; use a longer prefix, or `limits` for all paths
        """),
    FindingCase(
      .conflict,
      "A program whose path information is an endpoint",
      edits: [("authorization: /authorize", "authorization: /index.php/oauth/authorize.do")],
      clients: """
        routes:
          - prefix: /index.php
          - prefix: /index.php/oauth/authorize
          - prefix: /index.php/static
        """,
      expected: """
        policy.yaml:13:13: error: prefix `/index.php` contains `/index.php/oauth/authorize.do`, whose requests the gateway \
        handles itself; use a longer prefix, or `limits` for all paths
        policy.yaml:14:13: error: prefix `/index.php/oauth/authorize` contains `/index.php/oauth/authorize.do`, whose \
        requests the gateway handles itself; use a longer prefix, or `limits` for all paths
        """),
    FindingCase(
      .conflict,
      "A prefix that `pass` does not have, and one that it permits below an endpoint",
      edits: [("  endpoints:", "  pass: [/app, /token/keys]\n  endpoints:")],
      clients: """
        routes:
          - prefix: /app/upload
          - prefix: /token/keys
          - prefix: /other
        """,
      expected: """
        policy.yaml:16:13: error: no request under prefix `/other` passes, because `pass` of `upstream` does not have it; \
        add it there, or remove the route
        """),
    FindingCase(
      .invalidValue,
      "Prefixes in another form",
      clients: """
        routes:
          - prefix: upload
          - prefix: /a%20b
          - prefix: /a+b
          - prefix: /.proofgate/x
          - prefix: /a/*
          - prefix: /a
            body: many
            request_buffer: 2MiB
        """,
      expected: """
        policy.yaml:13:13: error: `prefix` cannot be `upload`; a path begins with `/`
        policy.yaml:14:13: error: `prefix` cannot be `/a%20b`; use letters, digits and `-._~/`, nothing percent-encoded \
        and no `;`
        policy.yaml:15:13: error: `prefix` cannot be `/a+b`; servers read `+`, `(` and a period at the end of a segment in \
        several ways; use a shorter prefix
        policy.yaml:16:13: error: `prefix` cannot be `/.proofgate/x`; paths below `/.proofgate` are the gateway's own
        policy.yaml:17:13: error: `prefix` cannot be `/a/*`; a prefix is no pattern; leave `*` out
        policy.yaml:19:11: error: `body` cannot be `many`; use 0 to 1099511627776 bytes, such as `2048` or `2KiB`
        policy.yaml:20:21: error: `request_buffer` cannot be `2MiB`; use 1024 to 1048576 bytes, such as `2048` or `2KiB`, \
        or `off`
        """),
    FindingCase(
      .duplicateValue,
      "A prefix, a field and a name twice",
      clients: """
        routes:
          - prefix: /a/b
          - prefix: /A/b/
          - prefix: /c
            request_headers: { set: { X-A: a, x-a: b }, remove: [X-B, x-b] }
          - body: 1KiB
        """,
      expected: """
        policy.yaml:14:13: error: prefix `/A/b/` occurs twice in `routes`; put its settings together
        policy.yaml:16:39: error: `x-a` occurs twice in `set`; keep one
        policy.yaml:16:63: error: `x-b` occurs twice in `remove`; keep one
        policy.yaml:17:5: error: the route has no `prefix`; add `prefix: PATH`, such as `prefix: /upload`
        """),
    FindingCase(
      .invalidValue,
      "Header fields that no route may change, and values that are no field values",
      clients: """
        routes:
          - prefix: /a
            request_headers:
              set: { Host: a.example.com, X_A: b, X-C: "d\\r\\ne", X-F: "\\u00e9", X-G: " h" }
              remove: [Cookie, Transfer-Encoding]
            response_headers:
              set: ["X-A: b"]
              remove: Set-Cookie
          - prefix: /b
            response_headers: { set: { X-A: b }, remove: x-a }
          - prefix: /c
            response_headers: { set: { X-A: "\(String(repeating: "v", count: 1_024))" } }
        """,
      expected: """
        policy.yaml:15:14: error: `set` cannot hold `Host`; the gateway says itself which client, host and path a request \
        has
        policy.yaml:15:35: error: `set` cannot hold `X_A`; use a name of up to 64 letters, digits and hyphens
        policy.yaml:15:48: error: `X-C` has a control character; write it on one line
        policy.yaml:15:63: error: `X-F` cannot be `\u{e9}`; use printable ASCII characters, without a space at an end
        policy.yaml:15:78: error: `X-G` cannot be ` h`; use printable ASCII characters, without a space at an end
        policy.yaml:16:16: error: `remove` cannot hold `Cookie`; it belongs to the user or the app
        policy.yaml:16:24: error: `remove` cannot hold `Transfer-Encoding`; the gateway writes the framing of each message \
        itself
        policy.yaml:18:12: error: `set` must be a mapping of names to values, such as `{ Cache-Control: no-store }`, not a \
        list
        policy.yaml:19:15: error: `remove` cannot hold `Set-Cookie`; it would change the cookies of the server and of the \
        gateway
        policy.yaml:21:5: error: `X-A` is both in `set` and in `remove`; `set` also removes the fields that it replaces, \
        so remove it from `remove`
        policy.yaml:23:25: error: the fields of `set` have 1031 bytes; a head has room for 1024
        """),
  ]
}
