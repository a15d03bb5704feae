/// The fields of a trailer section (RFC 9110, section 6.5) that the gateway forwards.
///
/// A recipient may merge trailers into the header section, after every check of the header section. So a field is dropped
/// if any software gives it a meaning for framing, routing, authentication, caching, the client's identity or the
/// handling of the content (RFC 9110, section 6.5.1): all names that the gateway knows, and those of the list below. A
/// request can therefore carry nothing in its trailers that it could not carry in its header section. This does not help
/// against a server that merges them into the next request (`Exchange.forwardRequestTrailers`).
public enum TrailerFields {
  /// The maximum number of bytes of a trailer section that is read, including its line ends. Trailers carry digests,
  /// signatures and statuses. The section is kept in memory until it is complete.
  public static let limit = 4 * 1024

  /// Throws if a trailer section has too many bytes.
  public static func checkLength(_ count: Int) throws(MessageError) {
    guard count <= limit else { throw MessageError(status: 413, "trailers of more than \(limit) bytes") }
  }

  /// Returns the lines of the fields that may be forwarded, without the empty line.
  ///
  /// - Parameters:
  ///   - section: The lines of the section with the empty line at its end, as `BodyDecoder` has accepted them.
  ///   - removed: The names, in lower case, of further fields to drop (`HeadIndex.remove`).
  ///   - index: An index that nothing else uses during the call.
  ///   - permits: Returns false for a field that must be dropped for a further reason.
  ///
  /// Throws if there are more fields than `HeadIndex.fieldLimit`.
  public static func forwardable(
    _ section: [UInt8], without removed: [String] = [], into index: HeadIndex,
    permits: (HeadIndex.Field, Span<UInt8>) -> Bool
  ) throws(MessageError) -> [UInt8] {
    let bytes = section.span
    index.clear()
    try index.parseFields(bytes, from: 0, to: section.count)
    index.remove(removed, bytes)
    var lines: [UInt8] = []
    for field in index where field.known == .none && !isForbidden(field, bytes) && permits(field, bytes) {
      lines += section[field.name]
      lines += [0x3a, 0x20]
      lines += section[field.value]
      lines += [0x0d, 0x0a]
    }
    return lines
  }

  private static func isForbidden(_ field: HeadIndex.Field, _ bytes: Span<UInt8>) -> Bool {
    forbidden.matches(bytes, field.name) && !HeadIndex.equalIgnoringCase(bytes, field.name, "content-digest")
  }

  /// The names without a kind of their own (`KnownField`) that have a meaning in a header section. `Content-Digest` is
  /// made for trailers (RFC 9530, section 6.2).
  private static let forbidden = FieldNameGlobs([
    // Content negotiation, conditions, ranges and properties of the content.
    "accept*", "allow", "content-*", "if", "if-*", "last-modified", "x-content-*", "x-sendfile*", "x-accel-*",
    // Authentication, cookies and permissions.
    "auth*", "*-authenticate", "*-authorization", "*-auth*", "*cookie*", "proxy-*", "*apikey", "*api-key", "*token*",
    "*-user", "user-*", "user", "username", "dpop*", "oauth-*",
    // Caching and the time of the response.
    "age", "cache-*", "*-cache-control", "expires", "retry-after", "surrogate-*", "warning", "x-cache*",
    // Routing, controls of the request, and the connection.
    "alt-*", "cdn-loop", "depth", "destination", "early-data", "idempotency-key", "lock-token", "max-forwards",
    "overwrite", "prefer*", "soapaction", "x-amz-*", "x-goog-*", "x-http-*", "x-method*", "x-ms-*", "x-rewrite-*",
    "x-url*", "x-uri*",
    // Policies of browsers.
    "access-control-*", "clear-site-data", "cross-origin-*", "expect-ct", "feature-policy", "nel", "observe-browsing-*",
    "origin-*", "permissions-policy*", "public-key-pins*", "referrer-policy", "report*", "sec-*", "service-worker*",
    "set-login", "sourcemap", "supports-loading-mode", "timing-allow-origin", "x-dns-*", "x-download-*", "x-frame-*",
    "x-permitted-*", "x-robots-*", "x-sourcemap", "x-ua-*", "x-xss-*",
  ])
}
