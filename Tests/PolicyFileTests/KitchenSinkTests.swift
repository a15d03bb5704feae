import PolicyFile
import Testing

@Suite("A policy file with errors everywhere")
struct KitchenSinkTests {
  @Test("All problems are reported at once, from top to bottom")
  func all() throws {
    let folder = try PolicyFolder([
      "policy.yaml": """
      version: 3
      gatway: {}
      gateway:
        origin: http://id.example.com/x
        listeners:
          - adress: 127.0.0.1:8080
          - address: 127.0.0.1:99999
        replicas: -1
        sealing_keys: { file: gone }
        drain_delay: soon
      upstream:
        url: legacy.example.com
        endpoints: { authorization: authorize, token: /token }
        callback: inplace
      enforcement:
        pkce_methods: [plain, SHA256]
        code_lifetime: 1h
      clients:
        - include: nowhere.yaml
        - id: a
          redirect_uris: [myapp:/cb, 'urn:ietf:wg:oauth:2.0:oob', 'https://*.example.com/cb']
        - id: a
          type: public
          pkce: none
          upstream: { client_secret: { env: NOPE }, authentication: none }
        - just text

      """
    ])
    defer { folder.remove() }
    let outcome = folder.load()
    #expect(outcome.policy == nil)
    #expect(folder.lines(outcome.diagnostics) == Self.expected)
    #expect(outcome.diagnostics.summary == "25 errors, 1 warning")
  }

  private static let expected = """
    policy.yaml:1:10: error: `version` cannot be `3`; this program reads version `1`
    policy.yaml:2:1: error: unknown key `gatway` in `policy`; did you mean `gateway`?
    policy.yaml:4:11: error: `origin` cannot have a path; use `http://id.example.com`, and `issuer` if the \
    issuer has a path
    policy.yaml:6:7: error: unknown key `adress` in `listener`; did you mean `address`?
    policy.yaml:7:16: error: `address` cannot be `127.0.0.1:99999`; use an address literal and a port, such \
    as `127.0.0.1:8080` or `[::]:8080`
    policy.yaml:8:13: error: `replicas` cannot be `-1`; use a whole number from 1 to 10000
    policy.yaml:9:25: error: secret file `gone` does not exist; `proofgate keys generate --file gone` makes one
    policy.yaml:10:16: error: `drain_delay` cannot be `soon`; use a whole number and a unit, such as \
    `250ms`, `60s`, `10m` or `1h`
    policy.yaml:12:8: error: `url` cannot be `legacy.example.com`; it must begin with `https://` or \
    `http://`
    policy.yaml:13:31: error: `authorization` cannot be `authorize`; a path begins with `/`
    policy.yaml:14:13: error: `callback` cannot be `inplace`; did you mean `in_place`?
    policy.yaml:16:17: warning: `plain` puts the verifier into the authorization request; remove it (RFC 7636, section \
    7.2) [plain-enabled]
    policy.yaml:16:17: error: `pkce_methods` lacks `S256`, which every server has to support; add it (RFC \
    7636, section 4.2) [s256-missing]
    policy.yaml:16:25: error: `pkce_methods` cannot be `SHA256`; did you mean `S256`?
    policy.yaml:17:18: error: `code_lifetime` cannot be `1h`; codes live at most 10 minutes, use `10m` or \
    less (RFC 6749, section 4.1.2) [code-lifetime]
    policy.yaml:19:14: error: policy file `nowhere.yaml` does not exist; check the path
    policy.yaml:20:9: error: client `a` has no `type`; say whether it is `public` or `confidential`, it \
    cannot be guessed (RFC 8252, section 8.4) [client-type]
    policy.yaml:21:21: error: client `a` cannot use scheme `myapp`: the scheme has no period (RFC 8252, \
    section 8.4): reverse a domain name of yours, e.g. `com.example.app` (RFC 8252, sections 7.1 and 8.4) \
    [scheme-not-reversed]
    policy.yaml:21:32: error: `urn:ietf:wg:oauth:2.0:oob` makes the user copy the code by hand; use a loopback, https \
    or private-use redirect URI (RFC 8252, section 7) [out-of-band]
    policy.yaml:21:61: error: `https://*.example.com/cb` is not a redirect URI: the redirect URI has a `*`: list every \
    URI in full, there are no wildcards
    policy.yaml:22:9: error: client `a` has the authorization code grant and no redirect URI; add \
    `redirect_uris` (RFC 6749, section 3.1.2.2) [no-redirect-uri]
    policy.yaml:22:9: error: client `a` occurs twice, first in line 20; remove one
    policy.yaml:24:11: error: `pkce` cannot be `none`; use `required`, `optional` or `off`
    policy.yaml:25:39: error: environment variable `NOPE` is not set; set it or use `file`
    policy.yaml:25:63: error: `authentication: none` leaves `client_secret` unused; remove one of the two
    policy.yaml:26:5: error: `client` must be a mapping, not text
    """
}
