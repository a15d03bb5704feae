import OAuth

extension Rejection {
  /// The paths, host names, transport and limits of the gateway.
  static let gateway = Subject(
    "Paths, hosts and limits",
    [
      .pathAmbiguous, .pathResemblesEndpoint, .endpointDisabled, .metadataBypassesGateway, .pathNotPassed,
      .targetUnencoded, .hostUnknown,
      .transportInsecure, .unlistedOAuth, .tooManyRequests, .storeUnavailable,
      .logUnavailable,
    ])

  package static let pathAmbiguous = Rejection(
    "path-ambiguous", .invalidRequest, 400, .noRedirect, "the path is an inexact spelling of an endpoint path",
    source: "RFC 3986, section 6.2",
    refused: """
      Some server may read the path as a protected endpoint, or may find a protected endpoint in the query, as in \
      `?rest_route=/oauth/token`. Or the path can be read in more ways than any ordinary path.
      """,
    why: "The request could reach the endpoint without the gateway's checks.",
    remedy: "Write the path of the endpoint exactly as it is in `upstream.endpoints`.")

  package static let pathResemblesEndpoint = Rejection(
    "path-resembles-endpoint", .invalidRequest, 400, .noRedirect, "the path begins like an endpoint",
    source: "RFC 9110, section 4.2.3",
    refused: """
      The path begins like a protected endpoint and continues, within the segment (`/oauth/token_key`) or below it \
      (`/oauth/token/info`).
      """,
    why: """
      Many servers compare only the beginning of a path (an nginx prefix location, HAProxy's `path_beg`, Java's \
      `HttpServer`). They would run the endpoint without the gateway's checks.
      """,
    remedy: """
      If the server has another page at this path, list the path in `upstream.not_endpoints`. The log line has the \
      entry to copy in `path`, with `*` in place of each segment that may be an id.
      """)

  package static let endpointDisabled = Rejection(
    "path-closed", .invalidRequest, 404, .noRedirect, "not found",
    source: "RFC 9126, section 2",
    refused: """
      The path is an endpoint of the server that the gateway does not serve. Or it is the endpoint for pushed \
      authorization requests, and the policy allows no client to push them.
      """,
    why: "A client could use the endpoint to bypass the gateway's checks.",
    remedy: """
      Use the endpoints that the gateway serves. To open the endpoint for pushed requests, set `pushed_authorization`.
      """)

  package static let metadataBypassesGateway = Rejection(
    "metadata-leads-around", .invalidRequest, 404, .noRedirect, "not found",
    source: "RFC 8414, section 3",
    refused: "The request asked for a metadata document of the server itself, and the policy enforces a client.",
    why: """
      The document names the server's own endpoints, so an app that reads it would send its requests directly to the \
      server. While no client is enforced, the document passes, and the log has the finding \
      `would-reject:metadata-leads-around`.
      """,
    remedy: """
      Use the gateway's own document, at the well-known path of `gateway.issuer`. If another proxy rewrites the \
      server's document, list its path in `upstream.not_endpoints`.
      """)

  package static let pathNotPassed = Rejection(
    "path-not-passed", .invalidRequest, 404, .noRedirect, "not found",
    source: "RFC 9110, section 15.5.5",
    refused: "No prefix in `upstream.pass` matches the path.",
    why: "With `upstream.pass`, only paths under its prefixes are reachable.",
    remedy: "Add the prefix to `upstream.pass`.")

  package static let targetUnencoded = Rejection(
    "target-unencoded", .invalidRequest, 400, .noRedirect, "the address has characters that must be percent-encoded",
    source: "RFC 9112, section 3.2",
    refused: "The address contains `\"`, `<`, `>` or characters outside of ASCII that are not percent-encoded.",
    why: """
      Servers read such an address in different ways, so the gateway and the server could find different parameters in \
      it. While no client is enforced, the request passes, and the log has the finding `would-reject:target-unencoded`.
      """,
    remedy: "Percent-encode the address. Browsers do so; the request comes from another program.")

  package static let hostUnknown = Rejection(
    "host-unknown", .invalidRequest, 421, .noRedirect, "this gateway does not serve this host name",
    source: "RFC 9110, section 7.4",
    refused: """
      The host in the request is not that of `gateway.origin`. It may be in `Host`, in an absolute request target, or \
      in the `X-Forwarded-Host` of a trusted proxy.
      """,
    why: "A server that builds links from `Host` would send users and codes to a host that the client chose.",
    remedy: """
      Use the host name of `gateway.origin`, let the proxy in front of the gateway forward it, or correct \
      `gateway.origin`.
      """)

  package static let transportInsecure = Rejection(
    "transport-insecure", .invalidRequest, 403, .noRedirect, "OAuth endpoints answer only over TLS",
    source: "RFC 6749, sections 3.1 and 3.2",
    refused: "A request for an OAuth endpoint came over plain http from another machine.",
    why: "Codes, tokens and secrets would travel over the network in the clear.",
    remedy: "Use https; add `tls` to the listener, or name the proxy that ends TLS in `trusted_proxies`.")

  package static let unlistedOAuth = Rejection(
    "unlisted-oauth", .invalidRequest, 400, .noRedirect, "this path is not an OAuth endpoint",
    source: "RFC 6749, sections 3.1 and 3.2",
    refused: """
      An authorization or token request was sent to a path that the policy does not list. The gateway recognises such \
      a request by `grant_type`, or by `client_id` together with `response_type`, `request` or `request_uri`, in its \
      query, form or JSON; in a query also by `client_id` together with `redirect_uri`. It reads as much of a body as \
      `limits.body` permits for a form.
      """,
    why: """
      Some servers have several paths for one endpoint, such as `/oauth2/v1/authorize`, and no rule covers a path that \
      the gateway does not know.
      """,
    remedy: """
      List the path, which is in the log line as `path`, in `upstream.endpoints`. If a login page of the server takes \
      these parameters, set `enforcement.unlisted_oauth: observe`: such requests then pass, and are logged and \
      counted.
      """)

  package static let tooManyRequests = Rejection(
    "too-many-requests", .temporarilyUnavailable, 429, .noRedirect, "too many requests",
    source: "RFC 6585, section 4",
    refused: "The address or the client has sent more token requests in a minute than the limit permits.",
    why: """
      A flood of token requests would reach the server through the gateway. One address or one app must not make the \
      server unavailable to all others.
      """,
    remedy: """
      Wait for the time in `Retry-After`. If the load is legitimate, raise `limits.token_requests_per_client` or \
      `limits.token_requests_per_address`.
      """)

  package static let logUnavailable = Rejection(
    "log-unavailable", .temporarilyUnavailable, 503, .noRedirect, "the decision cannot be logged at the moment",
    source: "RFC 9110, section 15.6.4",
    refused: """
      The policy has `log_overflow: refuse`, and the decision log does not accept lines: its disk is full, or its reader \
      does not read. No rule ran, and nothing was sent to the server.
      """,
    why: "An operator who has to account for all decisions must not have a decision without a line in the log.",
    remedy: """
      Make room on the disk of the log, or start its reader. A `log_spool` on a disk of the machine keeps lines meanwhile.
      """)

  package static let storeUnavailable = Rejection(
    "store-unavailable", .temporarilyUnavailable, 503, .mayRedirect, "the request cannot be stored at the moment",
    source: "RFC 6819, section 4.4.1.11",
    refused: """
      The store has no room for the request, or cannot be reached, or has begun another epoch since the code was sealed.
      """,
    why: """
      Without the store, the gateway cannot ensure that a value is used only once. A store that has begun another \
      epoch may have lost the claim on the code. Each client and network may use only a part of the store for each \
      kind of entry, so that there is room for others.
      """,
    remedy: """
      Try again later. The metric `proofgate_store_refusals_total` shows the kind of entry that has no room; enlarge \
      `store`.
      """)
}
