import OAuth

extension Rejection {
  /// The form of a request: its method, body and parameters.
  static let requests = Subject(
    "Requests",
    [
      .methodNotAllowed, .bodyNotForm, .parametersTooMany, .parametersSplit, .parameterNameMalformed,
      .parameterSpelling, .parameterRepeated, .parameterMalformed, .parameterTooLong,
      .tokenParametersInQuery,
    ])

  package static let methodNotAllowed = Rejection(
    "method-not-allowed", .invalidRequest, 405, .noRedirect, "method not allowed here",
    source: "RFC 6749, sections 3.1 and 3.2",
    refused: "The endpoint was called with a method that it does not accept.",
    why: """
      The authorization endpoint accepts GET and POST. The token endpoint and the similar endpoints that clients call \
      accept only POST, because secrets in a URI would get into logs and histories.
      """,
    remedy: "Use GET or a form POST for authorization requests, and POST for token requests.")

  package static let bodyNotForm = Rejection(
    "body-type", .invalidRequest, 400, .noRedirect, "the body must be application/x-www-form-urlencoded",
    source: "RFC 6749, appendix B",
    refused: "The body was not a form in UTF-8, or its `Content-Type` had a parameter other than `charset=utf-8`.",
    why: """
      Forms in UTF-8 are the only bodies that the gateway and all servers parse in the same way. JSON, multipart, \
      other charsets and compressed bodies can hide parameters. Some servers find a charset also in other parameters.
      """,
    remedy: """
      Send `Content-Type: application/x-www-form-urlencoded`, without `Content-Encoding` and without a parameter other \
      than `charset=utf-8`.
      """)

  package static let parametersTooMany = Rejection(
    "parameters-too-many", .invalidRequest, 400, .noRedirect, "too many parameters",
    source: "RFC 6749, section 3.1",
    refused: """
      The request had more parameters, longer names or values, or more text outside ASCII than any OAuth request has.
      """,
    why: "A flood of parameters costs memory, and could hide parameters from servers that stop reading early.",
    remedy: "Send only the parameters of the specification.")

  package static let parametersSplit = Rejection(
    "parameters-split", .invalidRequest, 400, .noRedirect, "parameters in both the query and the body",
    source: "RFC 6749, section 3.1",
    refused: "Parameters were in the query and in the body of one request.",
    why: """
      The gateway and the server could use different ones. A login or consent form of the server that posts to the \
      authorization URL is not refused if it belongs to a sign-in: it has the state that the gateway sent, or it names \
      a single client, which is observed.
      """,
    remedy: """
      Put all parameters in the query of a GET, or all in the body of a POST. If it is a form of the server, its query \
      and its body must have the same values.
      """)

  package static let parameterNameMalformed = Rejection(
    "parameter-name-malformed", .invalidRequest, 400, .noRedirect, "a parameter name cannot be decoded",
    source: "RFC 6749, appendix B",
    refused: "The name of a parameter had a broken percent-escape or was not UTF-8.",
    why: "It is not clear which parameter is meant; the server could read it as `client_id` or `redirect_uri`.",
    remedy: "Encode names as UTF-8 with complete percent-escapes.")

  package static let parameterSpelling = Rejection(
    "parameter-spelling", .invalidRequest, 400, .noRedirect, "a parameter in another spelling",
    source: "RFC 6749, section 3.1",
    refused: """
      The name of a parameter has a spelling that some servers read as another name, such as `client_id[]`, \
      `Client_Id` or a name after a semicolon.
      """,
    why: "The gateway would check one value, and the server could use the other.",
    remedy: "Write parameter names exactly as the specification does.")

  package static let parameterRepeated = Rejection(
    "parameter-repeated", .invalidRequest, 400, .mayRedirect, "a parameter occurs more than once",
    source: "RFC 6749, section 3.1",
    refused: "A parameter occurred more than once.",
    why: "The gateway and the server could use different ones. Only `resource` may repeat (RFC 8707).",
    remedy: "Send each parameter once.")

  package static let parameterMalformed = Rejection(
    "parameter-malformed", .invalidRequest, 400, .mayRedirect, "a parameter cannot be decoded",
    source: "RFC 6749, appendix B",
    refused: "The value of a parameter had a broken percent-escape, was not UTF-8, or had a control character.",
    why: "A value that cannot be decoded cannot be checked.",
    remedy: "Form-encode values as UTF-8.")

  package static let parameterTooLong = Rejection(
    "parameter-too-long", .invalidRequest, 400, .noRedirect, "state or scope is too long",
    source: "RFC 6749, section 4.1.1",
    refused: """
      `state` had more than 2048 bytes or `scope` more than 4096, or both together were longer than the gateway can keep \
      for a server that accepts only a short `state` (`upstream.state_limit`).
      """,
    why: """
      The gateway sends the server a sealed `state` that contains the one of the app and the scope, and few servers accept \
      URLs of more than 8 KiB. If the server accepts less, the gateway stores the value: at most 4096 bytes, because any \
      program can send such requests.
      """,
    remedy: """
      Send a short random `state`, and keep what belongs to it in the app. The operator can raise `state_limit` if the \
      server accepts more (`proofgate probe`).
      """)

  package static let tokenParametersInQuery = Rejection(
    "token-parameters-in-query", .invalidRequest, 400, .noRedirect, "parameters must be in the body",
    source: "RFC 6749, sections 2.3.1 and 3.2",
    refused: "The URI of a token request had OAuth parameters.",
    why: "URIs get into logs and histories, and the gateway and the server could use different values.",
    remedy: "Put all parameters into the form body.")
}
