public import OAuth
public import Time

/// Dynamic client registration (`registration:`; RFC 7591).
@dynamicMemberLookup
public struct RegistrationSettings: Sendable {
  /// The rules for the clients that register.
  public var rules = UnlistedClientRules()
  /// The path of the registration endpoint. Default: `/register`.
  public var path = "/register"
  /// The token that a registration request must contain (RFC 7591, section 1.2); `nil` if anyone may register.
  public var initialAccessToken: Secret?
  /// True if a client that requests a method of authentication with a secret gets a secret; false if every registered
  /// client is public.
  public var issuesSecrets = false
  /// The end of the day before which no id is accepted. An id contains the quarter of its issue, so the ids of the
  /// quarter of this day are accepted; `nil` (default) for no limit.
  public var notBefore: UnixTime?

  /// Creates the defaults, which permit no client.
  public init() {}

  /// A rule for the clients that register.
  public subscript<Value>(dynamicMember rule: WritableKeyPath<UnlistedClientRules, Value>) -> Value {
    get { rules[keyPath: rule] }
    set { rules[keyPath: rule] = newValue }
  }

  /// The settings of `registration:`.
  public static let table = SettingTable<RegistrationSettings>(
    "registration",
    "Dynamic client registration (RFC 7591): apps get a `client_id` at run time, which contains their metadata, sealed.",
    [
      .customReader(
        "path", .text("a path"), "The path of the registration endpoint", default: "`/register`"),
      .customReader(
        "scopes",
        .list(.text("scope tokens", pattern: ScopeRules.tokenPattern), allowsSingleValue: true, minimumCount: 1),
        """
        The scope tokens that registered clients may request; a request for any other is refused, but `offline_access` is \
        left out of it
        """,
        adviceIfMissing: "the scope tokens that registered clients may request"),
      .customReader(
        "resources", .list(.text("absolute URIs"), allowsSingleValue: true),
        "The `uri` of each of the `resources` that registered clients may request; a request for any other is refused",
        default: "none"),
      .customReader(
        "redirects", .section("unlisted_redirects"), "The redirect URIs that registered clients may have",
        adviceIfMissing: "a mapping with `https`, `loopback` or `schemes`"),
      .customReader(
        "upstream", .section("client_upstream"), "The client of the gateway at the server, for all registered clients",
        adviceIfMissing: "a mapping with `client_id`"),
      .customReader(
        "initial_access_token", .section("secret"),
        "The token that a registration request must contain (RFC 7591, section 1.2), at least 128 random bits",
        default: "none, anyone may register"),
      .flag(
        "secrets", \.issuesSecrets,
        """
        `true`: a client gets a secret, unless it requests the authentication method `none` or one that is not offered; \
        each registration gets an id and a secret of its own
        """),
      .date(
        "not_before", \.notBefore,
        """
        The first day whose ids are accepted. An id contains the quarter in which it was issued, so that all ids of the \
        quarters before that of this day end; their clients register again
        """,
        default: "ids do not end"),
      .customReader(
        "deny", .section("client_deny"), "Registered clients that are refused; takes effect with a reload",
        default: "none"),
    ]
  ) { RegistrationSettings() }
}

extension UnlistedRedirects {
  /// The settings of `redirects:` in `registration:`.
  public static let table = SettingTable<UnlistedRedirects>(
    "unlisted_redirects", "The redirect URIs that clients may have which the policy does not list.",
    [
      .customReader(
        "https", .word("any", or: .list(.text("host names"), allowsSingleValue: true)),
        """
        Hosts of https redirect URIs; `.example.com` permits all subdomains, and `any` all names, but no addresses; never \
        the hosts of `gateway.origin` and `gateway.issuer`
        """,
        default: "none"),
      .flag(
        "loopback", \.loopback,
        """
        `true`: native apps may have redirect URIs on loopback addresses, which match on any port, and on `localhost`
        """),
      .choice(
        "localhost", \.localhost,
        """
        The rule for the name `localhost` (RFC 8252, section 8.3): `portless` lets a URI without a port match any port, \
        because such an app registers before it knows its port
        """,
        default: "`portless`, or the value of `enforcement.localhost` unless that is `exact`"),
      .customReader(
        "schemes", .word("any", or: .list(.text("private-use schemes"), allowsSingleValue: true)),
        """
        Private-use schemes of native apps; `any` permits those that satisfy `enforcement.schemes`, and only a listed \
        scheme may lack a period
        """,
        default: "none"),
    ]
  ) { UnlistedRedirects() }
}

extension ClientDenyList {
  /// The settings of `deny:` in `registration:`.
  public static let table = SettingTable<ClientDenyList>(
    "client_deny", "Clients that are refused at every endpoint, although they are registered.",
    [
      .customReader(
        "ids", .list(.text("client ids"), allowsSingleValue: true),
        "Their ids, or the short forms of issued ids in the decision log (`pg1.digest.`)", default: "none"),
      .customReader(
        "hosts", .list(.text("host names"), allowsSingleValue: true),
        "Hosts of their https redirect URIs; `.example.com` denies all subdomains", default: "none"),
      .customReader(
        "schemes", .list(.text("private-use schemes"), allowsSingleValue: true),
        "Private-use schemes of their redirect URIs", default: "none"),
      .flag(
        "loopback", \.loopback, "`true`: clients with a redirect URI on a loopback address or `localhost`"),
      .customReader(
        "names", .list(.text("names; `*` matches any characters"), allowsSingleValue: true),
        """
        The names by which they call themselves; letter case, accents and other marks, full-width forms, quotation \
        marks, and the kind and number of spaces and dashes make no difference
        """, default: "none"),
    ]
  ) { ClientDenyList() }
}
