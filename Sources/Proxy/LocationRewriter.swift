internal import ByteText

/// Decides whether a field with a URL for the browser is forwarded, replaced or withheld.
enum LocationRewriter {
  enum Outcome {
    case keep
    case replace(String)
    case withhold
    /// The replacement cannot be encoded without changing its meaning.
    case unsafe
  }

  /// Decides on the value of a `Location`, `Content-Location` or `Refresh`.
  static func judge(
    _ value: String, requestHasPrivateCookie: Bool, request: UInt64, _ handler: any RequestHandler,
    _ configuration: ProxyConfiguration
  ) -> Outcome {
    switch handler.passingLocation(value, requestHasPrivateCookie: requestHasPrivateCookie, request: request) {
    case .withhold: return .withhold
    case .replace(let replacement): return ResponseEncoder.isSafe(replacement) ? .replace(replacement) : .unsafe
    case .keep: return moved(value, configuration).map { .replace($0) } ?? .keep
    }
  }

  /// Returns the value with the gateway's origin in place of the upstream's; `nil` if it points elsewhere.
  ///
  /// Without this, a legacy server that builds absolute URLs from its own name would redirect the browser past the
  /// gateway.
  static func moved(_ value: String, _ configuration: ProxyConfiguration) -> String? {
    let origin = configuration.upstreamOrigin
    let target = RefreshField.target(of: value)
    let count = origin.utf8.count
    // Scheme and host are case-insensitive (RFC 3986, section 6.2.2.1).
    guard !origin.isEmpty, target.utf8.count >= count,
      target.utf8.prefix(count).elementsEqual(origin.utf8, by: isEqualIgnoringCase)
    else { return nil }
    let end = target.utf8.index(target.startIndex, offsetBy: count)
    let rest = target[end...]
    guard rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") || rest.hasPrefix("#") else { return nil }
    return "\(value[..<target.startIndex])\(configuration.origin)\(value[end...])"
  }

  private static func isEqualIgnoringCase(_ a: UInt8, _ b: UInt8) -> Bool { a.lowercasedASCII == b.lowercasedASCII }
}
