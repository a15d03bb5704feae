internal import Bytes
public import OAuth

/// An authorization response of the upstream: from a `Location` that passes, or as it reached the callback.
public struct UpstreamAuthorizationResponse: Sendable {
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
    let whole = location.utf8.span
    let target = whole.extracting(0..<(whole.firstIndex(of: UInt8(ascii: "#")) ?? whole.count))
    let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
    let query = target.extracting(min(mark + 1, target.count)...)
    guard let parameters = FormParameters(parsing: query) else { return nil }
    self.parameters = parameters
    let rest = UpstreamAuthorizationResponse.withoutResponse(query)
    var address = [UInt8](copying: target.extracting(0..<mark))
    if rest.contains(where: { $0 != UInt8(ascii: "&") }) {
      address.append(UInt8(ascii: "?"))
      address += rest
    }
    self.address = String(decoding: address, as: UTF8.self)
  }

  /// The query without the parameters of a response, byte for byte.
  private static func withoutResponse(_ query: Span<UInt8>) -> [UInt8] {
    var rest: [UInt8] = []
    var isFirst = true
    var start = 0
    while start <= query.count {
      let end = query.firstIndex(of: UInt8(ascii: "&"), from: start) ?? query.count
      let pair = query.extracting(start..<end)
      start = end + 1
      if ParameterNames.inResponse.contains(FormParameters.parameter(of: pair)) { continue }
      if !isFirst { rest.append(UInt8(ascii: "&")) }
      isFirst = false
      rest.append(copying: pair)
    }
    return rest
  }

  /// What arrived at the callback over the network.
  public init(atCallback parameters: FormParameters) {
    place = .callback
    self.parameters = parameters
    address = nil
  }

  /// The sealed state that the answer carries; `nil` unless there is exactly one.
  public var state: String? { parameters[.state] }
}
