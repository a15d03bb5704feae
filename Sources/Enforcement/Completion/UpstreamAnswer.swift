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
    let target = location.prefix { $0 != "#" }
    let base = target.prefix { $0 != "?" }
    let query = target.dropFirst(base.count).dropFirst()
    guard let parameters = FormParameters(parsing: query) else { return nil }
    self.parameters = parameters
    let kept = query.split(separator: "&", omittingEmptySubsequences: false).filter { pair in
      let one = FormParameters(parsing: pair)
      let name = one?.entries.first?.name ?? one?.malformedNames.first
      return !(name.map(ParameterNames.inResponse.contains) ?? false)
    }
    address = kept.allSatisfy(\.isEmpty) ? String(base) : "\(base)?\(kept.joined(separator: "&"))"
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
