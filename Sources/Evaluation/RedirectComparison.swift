import OAuth
import Policy

/// The comparison of a requested redirect URI that does not match with the registered one that is most similar to it.
/// The comparison is for the operator. The gateway never shows it to the sender of a request, who could find out the
/// registered URI with it.
public struct RedirectComparison: Sendable, Equatable {
  /// The requested URI, without the port if ``omitsPort`` is true.
  public let requested: String
  /// The registered URI, without the port if ``omitsPort`` is true.
  public let registered: String
  /// The number of the registered URI in the client's list, from 1.
  public let number: Int
  /// The offset in bytes at which the two texts first differ.
  public let offset: Int
  /// True if both are loopback URIs, whose port an app chooses at run time (RFC 8252, section 7.3), so that the port is
  /// left out of both texts.
  public let omitsPort: Bool

  /// Compares a URI with those of a client; `nil` if the client has no redirect URI.
  init?(_ requested: String, _ client: Client) {
    var best: RedirectComparison?
    let parsed = try? RedirectURI(parsing: requested)
    for (index, registered) in client.redirectURIs.enumerated() {
      let candidate = RedirectComparison(requested, parsed, registered, number: index + 1)
      if candidate.offset > best?.offset ?? -1 { best = candidate }
    }
    guard let best else { return nil }
    self = best
  }

  private init(_ requested: String, _ parsed: RedirectURI?, _ registered: RedirectURI, number: Int) {
    self.number = number
    if let parsed, let host = RedirectComparison.commonHost(parsed, registered),
      parsed.pathAndQuery != registered.pathAndQuery
    {
      omitsPort = true
      self.requested = host + parsed.pathAndQuery
      self.registered = host + registered.pathAndQuery
    } else {
      omitsPort = false
      self.requested = requested
      self.registered = registered.text
    }
    offset = RedirectURI.firstDifference(self.requested, self.registered) ?? self.requested.utf8.count
  }

  /// Returns the scheme and host if both URIs have the same loopback host.
  private static func commonHost(_ left: RedirectURI, _ right: RedirectURI) -> String? {
    switch (left.kind, right.kind) {
    case (.loopback(.ipv4, _), .loopback(.ipv4, _)): "http://127.0.0.1"
    case (.loopback(.ipv6, _), .loopback(.ipv6, _)): "http://[::1]"
    case (.localhost, .localhost): "http://localhost"
    default: nil
    }
  }

  /// The two texts with a mark under the first difference.
  var lines: [String] {
    // The mark is placed by characters, because a terminal shows characters.
    let space = String(decoding: registered.utf8.prefix(offset), as: UTF8.self).count
    let port = omitsPort ? " (the port may differ and is left out)" : ""
    return [
      "requested   \(requested)", "registered  \(registered)",
      "            \(String(repeating: " ", count: space))^ differs here from redirect URI number \(number)\(port)",
    ]
  }
}
