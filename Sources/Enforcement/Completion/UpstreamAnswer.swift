public import OAuth

/// An authorization response of the upstream: from a `Location` that passes, or as it reached the callback.
public struct UpstreamAnswer: Sendable {
  /// Where it came from.
  public enum Place: Sendable {
    /// A `Location` on its way through the gateway, completed in place.
    case location(String)
    /// A request to the callback: parameters of the query or of a form post.
    case callback
  }

  public let place: Place
  public let parameters: FormParameters
  /// The address without what a response adds, to be compared with the redirect URI that went upstream; `nil` at the
  /// callback, and where the address cannot be read.
  let address: String?

  /// Reads a `Location`. `nil` when it has more parameters than any response.
  public init?(location: String) {
    place = .location(location)
    // A fragment is an implicit answer, or decoration that some servers add against reattached fragments.
    // Bytes: next to a combining mark a separator is no character of its own, and still separates for a browser.
    let target = location.utf8.prefix { $0 != UInt8(ascii: "#") }
    let base = target.prefix { $0 != UInt8(ascii: "?") }
    let query = target.dropFirst(base.count).dropFirst()
    guard let parameters = FormParameters(parsing: query) else { return nil }
    self.parameters = parameters
    let kept = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).filter { pair in
      let one = FormParameters(parsing: pair)
      let name = one?.entries.first?.name ?? one?.malformedNames.first
      return !(name.map(ParameterNames.inResponse.contains) ?? false)
    }
    let rest = kept.map { String(Substring($0)) }
    address = rest.allSatisfy(\.isEmpty) ? String(Substring(base)) : "\(Substring(base))?\(rest.joined(separator: "&"))"
  }

  /// What arrived at the callback over the network.
  public init(atCallback parameters: FormParameters) {
    place = .callback
    self.parameters = parameters
    address = nil
  }

  /// The sealed state that the answer carries; `nil` unless there is exactly one.
  public var state: String? { parameters["state"] }
}
