import OAuth

extension Rejection {
  /// Client ID metadata documents.
  static let clientDocuments = Subject(
    "Client ID metadata documents", [.clientDocumentUnavailable, .clientDocumentInvalid])

  package static let clientDocumentUnavailable = Rejection(
    "client-document-unavailable", .temporarilyUnavailable, 503, .noRedirect,
    "the metadata document of the app cannot be fetched",
    source: "draft-ietf-oauth-client-id-metadata-document, section 4",
    refused: """
      The `client_id` is the URL of a metadata document that the policy permits, but the gateway could not fetch the \
      document: its server did not answer with status 200 in time, its address is not publicly reachable, its \
      host was asked too often, or a fetch failed less than 10 seconds ago.
      """,
    why: "Without the document, the redirect URI of the request cannot be verified.",
    remedy: "Try again in a minute. If the refusal persists, check the URL from the machine of the gateway.")

  package static let clientDocumentInvalid = Rejection(
    "client-document-invalid", .invalidRequest, 400, .noRedirect, "the metadata document of the app is not acceptable",
    source: "draft-ietf-oauth-client-id-metadata-document, section 4.1",
    refused: """
      The document at the URL in `client_id` is not acceptable: it is not JSON, is longer than 5 KiB, has another \
      `client_id`, needs client authentication, or has no redirect URI that the gateway can use.
      """,
    why: "The document takes the place of a registration, so it is checked as strictly as one.",
    remedy: "Correct the document. The page says which member is wrong. The gateway reads it again after 10 seconds.")
}
