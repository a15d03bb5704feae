import OAuth

extension Rejection {
  /// Device flows: the polls of the device, and the pages on which the user enters and confirms the code.
  static let devices = Subject(
    "Devices",
    [
      .deviceCodeUnknown, .deviceCodeIssuedToOtherClient, .deviceCodeExpired, .deviceCodeUsed, .devicePollTooFast,
      .deviceDenied, .devicePageElsewhere, .userCodeUnknown, .userCodeInUse, .userCodeAttempts, .deviceFormForged,
      .deviceDecided,
    ])

  package static let deviceCodeUnknown = Rejection(
    "device-code-unknown", .invalidGrant, 400, .noRedirect, "the device code is unknown",
    source: "RFC 8628, section 3.5",
    refused: "The gateway did not issue the device code.",
    why: "Only a device code of the gateway belongs to a device flow.",
    remedy: "Send the `device_code` of the device authorization response, unchanged.")

  package static let deviceCodeIssuedToOtherClient = Rejection(
    "device-code-foreign", .invalidGrant, 400, .noRedirect, "the device code was issued to another client",
    source: "RFC 8628, section 3.4",
    refused: "The device code belongs to another client.",
    why: "Only the client that started a flow gets its tokens.",
    remedy: "Send the `client_id` with which the device started the flow.")

  package static let deviceCodeExpired = Rejection(
    "device-code-expired", .expiredToken, 400, .noRedirect, "the device code has expired",
    source: "RFC 8628, section 3.5",
    refused: """
      The device code is too old, the store no longer has its flow, or the server no longer accepts the code that it \
      issued when the user signed in.
      """,
    why: "Device codes are valid for ten minutes by default, because the user code could be guessed.",
    remedy: "Start the flow again.")

  package static let deviceCodeUsed = Rejection(
    "device-code-used", .invalidGrant, 400, .noRedirect, "the device code was already used",
    source: "RFC 8628, section 3.5",
    refused: """
      The device code was redeemed more than a minute ago, or the response with its tokens is no longer kept: the device \
      has refreshed them, the login has ended, or the store had no room.
      """,
    why: "A device code is redeemed once. A repeated poll gets the same response for a minute.",
    remedy: "Store the tokens of the first response. If they are lost, start the flow again.")

  package static let devicePollTooFast = Rejection(
    "device-poll-too-fast", .slowDown, 400, .noRedirect, "the device polls too fast",
    source: "RFC 8628, section 3.5",
    refused: "The device polled before the interval had passed.",
    why: "Each poll costs the gateway an operation of the store. The interval grows by five seconds each time.",
    remedy: "Wait for `interval` seconds between two polls, and add 5 after each `slow_down`.")

  package static let deviceDenied = Rejection(
    "device-denied", .accessDenied, 400, .noRedirect, "the user denied the request",
    source: "RFC 8628, section 3.5",
    refused: "The user denied the request of the device, or could not sign in at the server.",
    why: "The user decides.",
    remedy: "Nothing. The user can start the flow again.")

  package static let devicePageElsewhere = Rejection(
    "device-page-elsewhere", .serverError, 502, .noRedirect, "the server sent the address of a page of another host",
    source: "RFC 8628, section 3.2",
    refused: """
      The server's response to a device authorization request had a `verification_uri` that belongs neither to the \
      gateway (`gateway.origin`) nor to the server (`upstream.url`).
      """,
    why: "The device shows this address to the user, who signs in there. Only pages behind the gateway are checked.",
    remedy: "Configure the `origin` of the gateway as the server's public address, so that its pages have this address."
  )

  package static let userCodeUnknown = Rejection(
    "user-code-unknown", .invalidRequest, 400, .noRedirect, "the code is wrong or has expired",
    source: "RFC 8628, section 3.3",
    refused: "The user typed a code that belongs to no live device flow.",
    why: "The code was mistyped, has expired, or was already used.",
    remedy: "Type the code that the device shows now.")

  package static let userCodeInUse = Rejection(
    "user-code-in-use", .invalidRequest, 409, .noRedirect, "the code is in use in another browser",
    source: "RFC 8628, section 5.1",
    refused: "Another browser entered the same code before.",
    why: "The first browser that enters a code keeps it, so a person who guesses a code cannot take over its flow.",
    remedy: "Continue in the first browser, or start the flow on the device again.")

  package static let userCodeAttempts = Rejection(
    "user-code-attempts", .temporarilyUnavailable, 429, .noRedirect, "too many wrong codes",
    source: "RFC 8628, section 5.1",
    refused: "Too many wrong codes came from this browser or its network.",
    why: "A user code is short. Without a limit, it could be guessed.",
    remedy: "Wait for the time in `Retry-After`, then type the code that the device shows.")

  package static let deviceFormForged = Rejection(
    "device-form-forged", .invalidRequest, 403, .noRedirect, "the form does not belong to this browser",
    source: "RFC 6749, section 10.12",
    refused: "A form of the device page came without the token of this browser, too late, or from another site.",
    why: "Another site could otherwise approve a device in the name of the user.",
    remedy: "Open the device page again in this browser, with cookies.")

  package static let deviceDecided = Rejection(
    "device-decided", .invalidRequest, 400, .noRedirect, "the request of the device was already decided",
    source: "RFC 8628, section 5.4",
    refused: "The user had already allowed or denied the request, or it has expired.",
    why: "Each request is decided once. A second sign-in for a request that was allowed ends it.",
    remedy: "Start the flow on the device again.")
}
