import Testing

@testable import PolicyFile

@Suite("Findings about redirect URIs")
struct RedirectFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .invalidRedirectURI,
      "A redirect URI with a fragment",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['https://app.example.com/callback#']
        """,
      expected: """
        policy.yaml:15:21: error: `https://app.example.com/callback#` is not a redirect URI: the redirect URI has a \
        fragment (RFC 6749, section 3.1.2): remove the `#` and what follows
        """),
    FindingCase(
      .invalidRedirectURI,
      "A scheme alone",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['com.example.mail:']
        """,
      expected: """
        policy.yaml:15:21: error: `com.example.mail:` is not a redirect URI: the redirect URI ends before its path: \
        write it in full (RFC 8252, section 8.4)
        """),
    FindingCase(
      .outOfBand,
      "A code that is copied by hand",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['urn:ietf:wg:oauth:2.0:oob']
        """,
      expected: """
        policy.yaml:15:21: error: `urn:ietf:wg:oauth:2.0:oob` makes the user copy the code by hand; use a loopback, \
        https or private-use redirect URI (RFC 8252, section 7) [out-of-band]
        """),
    FindingCase(
      .plaintextRedirect,
      "A redirect URI over http",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['http://app.example.com/callback']
        """,
      expected: """
        policy.yaml:15:21: error: `http://app.example.com/callback` would carry codes in the clear; use \
        https, http is for `127.0.0.1` and `[::1]` (RFC 9700, section 2.6) [plaintext-redirect]
        """),
    FindingCase(
      .loopbackNotNative,
      "Loopback for a confidential client",
      clients: """
        clients:
          - id: com.example.mail
            type: confidential
            redirect_uris: ['http://127.0.0.1/callback']
        """,
      expected: """
        policy.yaml:15:21: error: client `com.example.mail` is confidential and has the loopback redirect \
        URI `http://127.0.0.1/callback`; use https, or `type: public` and `application: native` (RFC 8252, \
        section 7.3) [loopback-not-native]
        """),
    FindingCase(
      .loopbackNotNative,
      "localhost for a browser app",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['http://localhost:3000/callback']
            application: browser
        """,
      expected: """
        policy.yaml:15:21: error: client `com.example.mail` is not a native app and has the loopback redirect URI \
        `http://localhost:3000/callback`; use https, or `type: public` and `application: native` (RFC 8252, section \
        7.3) [loopback-not-native]
        """),
    FindingCase(
      .schemeNotNative,
      "A private-use scheme for a web app",
      mail: ["application: web"],
      expected: """
        policy.yaml:15:21: error: client `com.example.mail` has `com.example.mail:/callback`, which only a \
        native app can receive; use https or `application: native` (RFC 8252, section 7.1) \
        [private-scheme-not-native]
        """),
    FindingCase(
      .localhostRedirect,
      "A redirect to localhost",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['http://localhost/callback']
        """,
      expected: """
        policy.yaml:15:21: warning: `http://localhost/callback` depends on name resolution and matches on \
        this port only; use `127.0.0.1` and `[::1]` (RFC 8252, section 8.3) [localhost-redirect]
        """),
    FindingCase(
      .localhostRedirect,
      "A refused redirect to localhost",
      edits: [("mode: enforce", "mode: enforce\n  localhost: reject")],
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['http://localhost/callback']
        """,
      expected: """
        policy.yaml:16:21: error: `http://localhost/callback` is refused by `localhost: reject`; use \
        `127.0.0.1` and `[::1]` (RFC 8252, section 8.3) [localhost-redirect]
        """),
    FindingCase(
      .loopbackNoPath,
      "A loopback redirect without path",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['http://127.0.0.1']
        """,
      expected: """
        policy.yaml:15:21: note: `http://127.0.0.1` has no path; a path such as `/callback` keeps other \
        local requests apart (RFC 8252, section 8.4) [loopback-no-path]
        """),
    FindingCase(
      .noPath,
      "Redirects to the root",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['com.example.mail:/', 'https://mail.example.com/']
        """,
      expected: """
        policy.yaml:15:21: warning: `com.example.mail:/` has only the root path; give every authorization \
        server a path of its own (RFC 8252, section 8.4) [no-path]
        policy.yaml:15:43: warning: `https://mail.example.com/` claims the whole host; give every \
        authorization server a path of its own (RFC 8252, section 8.4) [no-path]
        """),
    FindingCase(
      .schemeAuthority,
      "Two slashes",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['com.example.mail://callback']
        """,
      expected: """
        policy.yaml:15:21: warning: `com.example.mail://callback` has two slashes, which make the next part \
        a host; write `com.example.mail:/...` with one slash (RFC 8252, section 7.1) [scheme-authority]
        """),
    FindingCase(
      .schemeNotReversed,
      "A scheme without a period",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['mail:/callback']
        """,
      expected: """
        policy.yaml:15:21: error: client `com.example.mail` cannot use scheme `mail`: the scheme has no \
        period (RFC 8252, section 8.4): reverse a domain name of yours, e.g. `com.example.app` (RFC 8252, \
        sections 7.1 and 8.4) [scheme-not-reversed]
        """),
    FindingCase(
      .schemeNotReversed,
      "Schemes without a period that the client lists, and one that it does not list",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['cursor:/callback', 'vscode:/callback', 'mail:/callback']
            schemes: [cursor, vscode]
        """,
      expected: """
        policy.yaml:15:61: error: client `com.example.mail` cannot use scheme `mail`: the scheme has no \
        period (RFC 8252, section 8.4): reverse a domain name of yours, e.g. `com.example.app` (RFC 8252, \
        sections 7.1 and 8.4) [scheme-not-reversed]
        policy.yaml:16:15: warning: scheme `cursor` has no period, so another app may use it too; remove it unless users \
        need the app (RFC 8252, sections 7.1 and 8.4) [scheme-not-reversed]
        policy.yaml:16:23: warning: scheme `vscode` has no period, so another app may use it too; remove it unless users \
        need the app (RFC 8252, sections 7.1 and 8.4) [scheme-not-reversed]
        """),
    FindingCase(
      .invalidValue,
      "A scheme of a browser in the list of a client, and a word that is no rule",
      clients: """
        clients:
          - { id: a, type: public, redirect_uris: ['com.example.a:/cb'], schemes: [javascript] }
          - { id: b, type: public, redirect_uris: ['com.example.b:/cb'], schemes: minimun }
        """,
      expected: """
        policy.yaml:13:76: error: `schemes` cannot hold `javascript`; use private-use schemes such as `com.example.app`
        policy.yaml:14:75: error: `schemes` cannot be `minimun`; did you mean `minimum`?
        """),
    FindingCase(
      .schemeNotReversed,
      "A scheme that is no reversed domain",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['local.mail:/callback']
        """,
      expected: """
        policy.yaml:15:21: error: client `com.example.mail` cannot use scheme `local.mail`: the scheme does \
        not begin with a top-level domain (RFC 8252, section 7.1): reverse a domain name of yours, or set \
        `schemes: minimum` (RFC 8252, sections 7.1 and 8.4) [scheme-not-reversed]
        """),
    FindingCase(
      .schemeNotReversed,
      "A scheme that is no reversed domain, accepted",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['local.mail:/callback']
            schemes: minimum
        """,
      expected: """
        policy.yaml:15:21: warning: client `com.example.mail` uses scheme `local.mail`, which is not a \
        reversed domain name, so others may use it too (RFC 8252, sections 7.1 and 8.4) \
        [scheme-not-reversed]
        policy.yaml:16:14: warning: `schemes: minimum` accepts schemes that are not a reversed domain name; \
        use `strict` (RFC 8252, sections 7.1 and 8.4) [minimum-schemes]
        """),
    FindingCase(
      .schemeTooLong,
      "A long scheme on Windows",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['com.example.aaaaaaaaaaaaaaaaaaaaaaaaaaaa:/callback']
            platform: uwp
        """,
      expected: """
        policy.yaml:15:21: warning: scheme `com.example.aaaaaaaaaaaaaaaaaaaaaaaaaaaa` has 40 characters, and \
        apps of the Universal Windows Platform can have 39; shorten it (RFC 8252, appendix B.3) \
        [scheme-too-long]
        """),
    FindingCase(
      .schemeTooLong,
      "A long scheme, without a named platform",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['com.example.aaaaaaaaaaaaaaaaaaaaaaaaaaaa:/callback']
        """,
      expected: """
        policy.yaml:15:21: note: scheme `com.example.aaaaaaaaaaaaaaaaaaaaaaaaaaaa` has 40 characters, and \
        apps of the Universal Windows Platform can have 39; shorten it, or set `platform` (RFC 8252, \
        appendix B.3) [scheme-too-long]
        """),
    FindingCase(
      .sharedScheme,
      "A scheme of two clients",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: [com.example.mail:/callback]
          - id: b
            type: public
            redirect_uris: [com.example.mail:/b]
        """,
      expected: """
        policy.yaml:18:21: warning: client `b` and client `com.example.mail` both have scheme \
        `com.example.mail`, which a device gives to one app; use a scheme per app (RFC 8252, section 7.1) \
        [shared-scheme]
        """),
    FindingCase(
      .sharedRedirectURI,
      "A redirect URI of two clients",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: [com.example.mail:/callback]
          - id: b
            type: public
            redirect_uris: [com.example.mail:/callback]
        """,
      expected: """
        policy.yaml:18:21: warning: client `b` and client `com.example.mail` both have redirect URI \
        `com.example.mail:/callback`; give each its own (RFC 8252, section 8.10) [shared-redirect-uri]
        """),
    FindingCase(
      .sharedRedirectURI,
      "A loopback redirect URI of an observed and an enforced client, on different ports",
      clients: """
        clients:
          - id: cli
            type: public
            redirect_uris: ['http://127.0.0.1/cb', 'http://[::1]/cb']
          - id: other
            type: public
            mode: observe
            redirect_uris: ['http://127.0.0.1:4000/cb', 'http://127.0.0.1/own']
        """,
      expected: """
        policy.yaml:18:11: warning: `mode: observe` refuses nothing; use `enforce` once the log shows that apps comply \
        [observe-mode]
        policy.yaml:19:21: warning: the observed client `other` and the enforced client `cli` both have redirect URI \
        `http://127.0.0.1/cb` on any port, so an app of one can get the codes of the other; give each a path of its own \
        (RFC 8252, section 8.10) [shared-redirect-uri]
        """),
  ]
}
