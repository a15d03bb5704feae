import OAuth

extension Rejection {
  /// Dynamic client registration.
  static let registration = Subject(
    "Dynamic client registration",
    [
      .registrationMetadata, .registrationRedirectURI, .registrationUnauthorized,
    ])

  package static let registrationMetadata = Rejection(
    "registration-metadata", .invalidClientMetadata, 400, .noRedirect, "the client metadata is not accepted",
    source: "RFC 7591, section 3.2.2",
    refused: "A registration request was not JSON, had a member with a value that is not accepted, or was too long.",
    why: """
      The metadata becomes part of the `client_id`, and its name is shown to users. Registered clients use the \
      authorization code grant.
      """,
    remedy: "Read `error_description` in the response, and correct the metadata.")

  package static let registrationRedirectURI = Rejection(
    "registration-redirect-uri", .invalidRedirectURI, 400, .noRedirect, "no redirect URI is accepted",
    source: "RFC 7591, section 3.2.2; RFC 8252, section 8.4",
    refused: "A registration request had no redirect URI that the policy permits, or too many.",
    why: "Codes are sent to these URIs, so the policy says which hosts and schemes strangers may register.",
    remedy: "Read `error_description` in the response. The operator permits more in `registration.redirects`.")

  package static let registrationUnauthorized = Rejection(
    "registration-unauthorized", .invalidToken, 401, .noRedirect, "an initial access token is required",
    source: "RFC 7591, section 3; RFC 6750, section 3.1",
    refused: "A registration request had no initial access token, or a wrong one.",
    why: "The policy limits registration to those that have the token (`registration.initial_access_token`).",
    remedy: "Send the token that the operator gave you: `Authorization: Bearer TOKEN`.")
}
