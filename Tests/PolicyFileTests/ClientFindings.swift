import TLSTestSupport
import Testing

@testable import PolicyFile

@Suite("Findings about clients")
struct ClientFindings {
  @Test("One finding, in its words and at its place", arguments: cases)
  func finding(_ finding: FindingCase) throws {
    try finding.check()
  }

  static let cases: [FindingCase] = [
    FindingCase(
      .refreshReuseNetworks,
      "Repeats from any network, with a window and without one",
      clients: """
        clients:
          - id: mail
            type: public
            redirect_uris: [com.example.mail:/cb]
            refresh_reuse_window: 60s
            refresh_reuse_networks: any
          - id: other
            type: public
            redirect_uris: [com.example.other:/cb]
            refresh_reuse_window: 0s
            refresh_reuse_networks: any
          - id: third
            type: public
            redirect_uris: [com.example.third:/cb]
            refresh_reuse_networks: same
        """,
      expected: """
        policy.yaml:16:27: warning: `refresh_reuse_window` repeats the answer for a used refresh token for a while, \
        also to a thief; use `30s` or less (RFC 9700, section 4.14.2) [refresh-reuse-window]
        policy.yaml:17:29: warning: `refresh_reuse_networks: any` answers a repeated refresh token of client \
        `mail` from any address; use `same` unless its apps change networks while they refresh (RFC 9700, \
        section 4.14.2) [refresh-reuse-networks]
        policy.yaml:22:29: warning: `refresh_reuse_networks: any` has no effect without `refresh_reuse_window`; remove it \
        (RFC 9700, section 4.14.2) [refresh-reuse-networks]
        """),
    FindingCase(
      .clientType,
      "A client without type",
      clients: """
        clients:
          - id: com.example.mail
            redirect_uris: [com.example.mail:/callback]
        """,
      expected: """
        policy.yaml:13:9: error: client `com.example.mail` has no `type`; say whether it is `public` or \
        `confidential`, it cannot be guessed (RFC 8252, section 8.4) [client-type]
        """),
    FindingCase(
      .nativeConfidential,
      "A confidential native app",
      clients: """
        clients:
          - id: com.example.mail
            type: confidential
            redirect_uris: [com.example.mail:/callback]
            application: native
        """,
      expected: """
        policy.yaml:14:11: error: client `com.example.mail` is a native app, whose copies cannot keep a \
        shared secret; use `type: public` (RFC 8252, sections 8.4 and 8.5) [native-confidential]
        """),
    FindingCase(
      .publicSecret,
      "A public client with a secret",
      mail: ["secret: { env: LEGACY_SECRET }"],
      expected: """
        policy.yaml:16:13: error: client `com.example.mail` is public, so a secret proves nothing; remove \
        `secret` or use `type: confidential` (RFC 8252, section 8.5) [public-client-secret]
        """),
    FindingCase(
      .missingSecret,
      "A confidential client that cannot prove itself",
      clients: """
        clients:
          - id: web
            type: confidential
            redirect_uris: ['https://web.example.com/callback']
            upstream: { client_id: legacy }
        """,
      expected: """
        policy.yaml:13:9: error: client `web` is confidential and has another id upstream, so it must authenticate to \
        the gateway; add `secret: { file: PATH }` (RFC 6749, section 3.2.1) [missing-client-secret]
        """),
    FindingCase(
      .missingSecret,
      "Authentication without a secret",
      mail: ["upstream: { authentication: post }"],
      expected: """
        policy.yaml:16:33: error: `authentication: post` needs a secret; add `client_secret: { file: PATH }` \
        (RFC 6749, section 3.2.1) [missing-client-secret]
        """),
    FindingCase(
      .pkceOptional,
      "Optional PKCE",
      clients: """
        clients:
          - id: web
            type: confidential
            redirect_uris: ['https://web.example.com/callback']
            pkce: optional
        """,
      expected: """
        policy.yaml:16:11: warning: client `web` may leave PKCE out, so a stolen code can be injected; use \
        `required` once it sends PKCE (RFC 9700, section 2.1.1) [pkce-optional]
        """),
    FindingCase(
      .pkceNative,
      "Optional PKCE for a native app",
      mail: ["pkce: optional"],
      expected: """
        policy.yaml:16:11: error: client `com.example.mail` is a native app, for which PKCE cannot be \
        `optional`; use `required` (RFC 8252, section 8.1) [pkce-native]
        """),
    FindingCase(
      .pkceOff,
      "No PKCE for a public client",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: ['https://spa.example.com/callback']
            application: browser
            pkce: off
        """,
      expected: """
        policy.yaml:17:11: error: client `com.example.mail` is public, for which PKCE cannot be `off`; use \
        `required` (RFC 9700, section 2.1.1) [pkce-off-public]
        """),
    FindingCase(
      .pkceProfile,
      "Optional PKCE under OAuth 2.1",
      clients: """
        clients:
          - id: web
            type: confidential
            profile: oauth_2_1
            pkce: optional
            redirect_uris: ['https://web.example.com/callback']
        """,
      expected: """
        policy.yaml:16:11: error: client `web` is held to OAuth 2.1, where PKCE cannot be `optional`; use \
        `required`, or `relies_on_nonce: true` for a confidential client that checks the nonce (OAuth 2.1, \
        section 7.5.1.1) [pkce-profile]
        """),
    FindingCase(
      .grant,
      "Grants that an app must not have",
      mail: ["grants: [authorization_code, password, implicit, client_credentials]"],
      expected: """
        policy.yaml:16:34: error: client `com.example.mail` cannot have the password grant, which shows \
        passwords to apps; use `authorization_code` (RFC 9700, sections 2.1.2 and 2.4) [grant-not-allowed]
        policy.yaml:16:44: error: client `com.example.mail` cannot have the implicit grant; use \
        `authorization_code` (RFC 9700, sections 2.1.2 and 2.4) [grant-not-allowed]
        policy.yaml:16:54: error: client `com.example.mail` is public and has no credentials; remove \
        `client_credentials` (RFC 9700, sections 2.1.2 and 2.4) [grant-not-allowed]
        """),
    FindingCase(
      .grant,
      "Client credentials of clients that prove themselves to the gateway",
      clients: """
        clients:
          - id: web
            type: confidential
            redirect_uris: ['https://web.example.com/callback']
            secret: { env: STRONG_SECRET }
            grants: [authorization_code, client_credentials]
          - id: other
            type: confidential
            redirect_uris: ['https://other.example.com/callback']
            secret: { env: STRONG_SECRET }
            grants: [authorization_code, client_credentials]
            upstream: { client_id: legacy }
        """,
      expected: """
        policy.yaml:17:34: error: client `web` authenticates to the gateway, which does not send its own credentials \
        for this grant; remove `client_credentials` (RFC 9700, sections 2.1.2 and 2.4) [grant-not-allowed]
        policy.yaml:22:34: error: client `other` authenticates to the gateway, which does not send its own credentials \
        for this grant; remove `client_credentials` (RFC 9700, sections 2.1.2 and 2.4) [grant-not-allowed]
        """),
    FindingCase(
      .weakSecret,
      "A secret of a word and a number",
      clients: """
        clients:
          - id: web
            type: confidential
            redirect_uris: ['https://web.example.com/callback']
            secret: { env: LEGACY_SECRET }
          - id: other
            type: confidential
            redirect_uris: ['https://other.example.com/callback']
            secret: { env: STRONG_SECRET }
        """,
      expected: """
        policy.yaml:16:13: warning: the secret of client `web` has at most 31 bits and could be guessed; use \
        128 random bits, such as 32 hexadecimal digits of `openssl rand -hex 16` (RFC 6749, section 10.10) \
        [weak-client-secret]
        """),
    FindingCase(
      .noRedirectURI,
      "No redirect URI",
      clients: """
        clients:
          - id: com.example.mail
            type: public
        """,
      expected: """
        policy.yaml:13:9: error: client `com.example.mail` has the authorization code grant and no redirect \
        URI; add `redirect_uris` (RFC 6749, section 3.1.2.2) [no-redirect-uri]
        """),
    FindingCase(
      .consentUpstream,
      "Consent left to the upstream",
      mail: ["consent: upstream"],
      expected: """
        policy.yaml:16:14: warning: the gateway does not ask for consent for client `com.example.mail` although any \
        app can use a private-use scheme; use `consent: gateway` (RFC 8252, section 8.6) [consent-upstream]
        """),
    FindingCase(
      .consentRemembered,
      "Consent remembered where it has no effect",
      clients: """
        clients:
          - id: app
            type: public
            redirect_uris: [com.example.app:/cb]
            consent_remembered: 1h
          - id: site
            type: public
            redirect_uris: [https://site.example.com/cb]
            consent_remembered: 1h
          - id: stranger
            type: public
            redirect_uris: [https://other.example.com/cb]
            trusted: false
            consent_remembered: 1h
          - id: asked
            type: public
            redirect_uris: [https://asked.example.com/cb, com.example.asked:/cb]
            consent_remembered: 1h
          - id: off
            type: public
            redirect_uris: [com.example.off:/cb]
            consent_remembered: 0s
        """,
      expected: """
        policy.yaml:16:25: warning: `consent_remembered` has no effect for client `app`, because it has no https redirect \
        URI; remove it (RFC 8252, section 8.6) [consent-remembered]
        policy.yaml:20:25: warning: `consent_remembered` has no effect for client `site`, because the gateway does not ask \
        for consent to its https redirect URIs; remove it (RFC 8252, section 8.6) [consent-remembered]
        policy.yaml:25:25: warning: `consent_remembered` has no effect for client `stranger`, because the operator does not \
        vouch for it; remove it (RFC 8252, section 8.6) [consent-remembered]
        """),
    FindingCase(
      .consentRemembered,
      "Consent remembered for all clients, none of which can use it",
      edits: [("  mode: enforce", "  mode: enforce\n  consent_remembered: 1h")],
      clients: """
        clients:
          - id: app
            type: public
            redirect_uris: [com.example.app:/cb]
        """,
      expected: """
        policy.yaml:11:23: warning: `consent_remembered` has no effect, because no client is trusted, has an https redirect \
        URI and `consent: gateway`; remove it (RFC 8252, section 8.6) [consent-remembered]
        """),
    FindingCase(
      .consentRemembered,
      "Consent remembered with a cookie that other sites' requests carry",
      edits: [("  url: http://127.0.0.1:9000", "  url: http://127.0.0.1:9000\n  cross_site_login: true")],
      clients: """
        clients:
          - id: site
            type: public
            redirect_uris: [https://site.example.com/cb]
            consent: gateway
            consent_remembered: 1h
        """,
      expected: """
        policy.yaml:18:25: warning: `consent_remembered` has no effect, because browsers send the gateway's cookie with \
        requests of other sites (`callback` or `cross_site_login`); remove it (RFC 8252, section 8.6) [consent-remembered]
        """),
    FindingCase(
      .sharedUpstreamClient,
      "A shared upstream client",
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: [com.example.mail:/callback]
            upstream: { client_id: legacy }
          - id: b
            type: public
            redirect_uris: [com.example.b:/callback]
            upstream: { client_id: legacy }
          - id: c
            type: public
            redirect_uris: [com.example.c:/callback]
            upstream: { client_id: legacy }
        """,
      expected: """
        policy.yaml:20:28: warning: upstream client `legacy` serves 3 clients, so an ID or access token of one is \
        valid for the others, and the upstream applies the user's consent for one to all; use an upstream client for \
        each (RFC 8252, section 8.6) [shared-upstream-client]
        """),
    FindingCase(
      .rawRefresh,
      "Older refresh tokens of a client that is another one upstream",
      mail: ["raw_refresh_until: 2027-03-31", "upstream: { client_id: legacy }"],
      expected: """
        policy.yaml:16:24: warning: `raw_refresh_until` accepts refresh tokens that are not bound to a client here, \
        until the end of 2027-03-31 (UTC); use `never` when the apps have used theirs once (RFC 6749, section 10.4) \
        [raw-refresh-tokens]
        policy.yaml:16:24: warning: client `com.example.mail` is `legacy` upstream, so older refresh tokens do not \
        belong to it and are refused; use `never` (RFC 6749, section 10.4) [raw-refresh-tokens]
        """),
    FindingCase(
      .oldVersion,
      "An app whose old version is accepted",
      mail: ["accept_old_version_until: 2999-12-31"],
      expected: """
        policy.yaml:16:31: warning: sign-ins of client `com.example.mail` need no PKCE until the end of 2999-12-31 (UTC), \
        so a stolen code and the secret in its old version suffice for the tokens of a user; remove \
        `accept_old_version_until` as soon as the log has no more `old-version-accepted` (RFC 7636, section 1) \
        [old-version-accepted]
        """),
    FindingCase(
      .oldVersion,
      "An app whose old version was accepted",
      mail: ["accept_old_version_until: 2020-12-31"],
      expected: """
        policy.yaml:16:31: warning: `accept_old_version_until` of client `com.example.mail` is past, so its old version \
        is refused; remove the setting (RFC 7636, section 1) [old-version-accepted]
        """),
    FindingCase(
      .oldVersion,
      "An old version whose secret the server does not know",
      mail: ["accept_old_version_until: 2999-12-31", "upstream: { client_id: legacy }"],
      expected: """
        policy.yaml:16:31: warning: `accept_old_version_until` of client `com.example.mail` has no effect, because it has \
        another id upstream, where the secret of its old version is unknown (RFC 7636, section 1) [old-version-accepted]
        """),
    FindingCase(
      .rawRefreshUndecided,
      "An enforced client without a decision on refresh tokens from before the gateway",
      edits: [("\n  raw_refresh_until: never", "")],
      clients: """
        clients:
          - id: com.example.mail
            type: public
            redirect_uris: [com.example.mail:/callback]
          - id: held
            type: confidential
            redirect_uris: [https://held.example.com/callback]
            upstream: { client_secret: { env: LEGACY_SECRET } }
          - id: decided
            type: public
            redirect_uris: [com.example.decided:/callback]
            raw_refresh_until: never
          - id: observed
            type: public
            redirect_uris: [com.example.observed:/callback]
            mode: observe
          - id: other
            type: public
            redirect_uris: [com.example.other:/callback]
            upstream: { client_id: legacy }
          - id: other-decided
            type: public
            redirect_uris: [com.example.other2:/callback]
            raw_refresh_until: never
            upstream: { client_id: legacy2 }
          - id: no-refresh
            type: public
            redirect_uris: [com.example.none:/callback]
            grants: [authorization_code]
          - id: own-credentials
            type: confidential
            redirect_uris: [https://own.example.com/callback]
        """,
      expected: """
        policy.yaml:12:9: error: client `com.example.mail` is enforced, and refresh tokens from before the gateway \
        are not decided on; set `raw_refresh_until` to a date such as `2027-03-31`, so that its users stay signed in, \
        or to `never` (RFC 6749, section 10.4) [raw-refresh-undecided]
        policy.yaml:15:9: error: client `held` is enforced, and refresh tokens from before the gateway \
        are not decided on; set `raw_refresh_until` to a date such as `2027-03-31`, so that its users stay signed in, \
        or to `never` (RFC 6749, section 10.4) [raw-refresh-undecided]
        policy.yaml:26:11: warning: `mode: observe` refuses nothing; use `enforce` once the log shows that apps comply \
        [observe-mode]
        policy.yaml:27:9: error: client `other` is enforced, and refresh tokens from before the gateway \
        are not decided on; set `raw_refresh_until: never`, because it is `legacy` upstream, which cannot use older \
        tokens of `other`; to keep users of that id signed in, remove `client_id` below `upstream` and set a date \
        (RFC 6749, section 10.4) [raw-refresh-undecided]
        """),
    FindingCase(
      .invalidValue,
      "A client whose date cannot be read is not asked for one",
      edits: [("\n  raw_refresh_until: never", "")],
      mail: ["raw_refresh_until: whenever"],
      expected: """
        policy.yaml:15:24: error: `raw_refresh_until` cannot be `whenever`; use a date such as `2027-03-31`, or `never`
        """),
    FindingCase(
      .pushedAuthorization,
      "A client that can prove itself to the upstream alone",
      edits: [("token: /token }", "token: /token, pushed_authorization: /par }")],
      clients: """
        clients:
          - id: web
            type: confidential
            redirect_uris: ['https://web.example.com/callback']
            pushed_authorization: optional
        """,
      expected: """
        policy.yaml:16:27: error: client `web` authenticates to the upstream only, and pushed requests never go there; \
        add `secret: { file: PATH }` or use `pushed_authorization: off` (RFC 9126, section 2) [pushed-authorization]
        """),
    FindingCase(
      .responseMode,
      "A form for a private-use scheme",
      mail: ["response_modes: [query, form_post]"],
      expected: """
        policy.yaml:16:21: warning: client `com.example.mail` has a private-use redirect URI, which no form \
        can be posted to; remove `form_post` (OAuth 2.0 Form Post Response Mode, section 2) [response-mode]
        """),
    FindingCase(
      .documentHost,
      "Every document of a host",
      clients: """
        client_documents:
          urls: [https://app.example/, https://app.example/oauth/client.json]
          scopes: [read]
          upstream: { client_id: shared }
          ca: ca.pem
        """,
      files: [
        "ca.pem": (try? TestCertificates.bytes("server-ca.pem")).map { String(decoding: $0, as: UTF8.self) } ?? ""
      ],
      expected: """
        policy.yaml:13:10: warning: `https://app.example/` permits every document of the host, also those that its users \
        may publish; name a URL or a path [document-host]
        """),
    FindingCase(
      .registeredHost,
      "Programs that register, but whose documents are not listed",
      clients: """
        client_documents:
          urls: [https://claude.ai/oauth/mcp-oauth-client-metadata]
          scopes: [read]
          upstream: { client_id: shared }
          ca: ca.pem
        registration:
          scopes: [read]
          redirects: { https: [claude.ai, chatgpt.com, .example.com] }
          upstream: { client_id: shared }
        """,
      files: [
        "ca.pem": (try? TestCertificates.bytes("server-ca.pem")).map { String(decoding: $0, as: UTF8.self) } ?? ""
      ],
      expected: """
        policy.yaml:13:9: note: `registration.redirects.https` has `chatgpt.com`, `.example.com`, and `urls` no document \
        there; a program that has a document sends its URL instead of registering, and is refused: add its URL, or `known` \
        [registered-host]
        """),
  ]
}
