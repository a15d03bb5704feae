/// The result of a fetch of a client ID metadata document. The raw values are labels of a metric and parts of findings
/// in the log.
public enum DocumentFetchOutcome: String, Sendable, CaseIterable {
  /// The document was fetched and is acceptable.
  case ok
  /// The host has no address, or its look-up took too long.
  case lookUp = "look-up"
  /// No address of the host is one to which the gateway may connect.
  case address
  /// The server does not accept connections.
  case connection
  /// The TLS handshake failed, or the certificate is not trusted.
  case tls
  /// The fetch took too long.
  case timeout
  /// The response was incomplete, was malformed, or had a status from 500 on.
  case response
  /// The server refused the request with a status from 400 to 499.
  case status
  /// The response is not an acceptable document.
  case invalid
  /// Nothing was fetched, because too many documents of the host were requested.
  case rate
}
