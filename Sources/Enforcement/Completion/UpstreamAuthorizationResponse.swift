internal import Bytes
public import OAuth

/// An authorization response of the upstream: read from a `Location` that the gateway forwards, or received at the
/// callback.
public struct UpstreamAuthorizationResponse: Sendable {
  /// The place where the answer was found.
  public enum Place: Sendable {
    /// A `Location` that passes through the gateway and is completed there.
    case location(String)
    /// A request to the callback: the parameters of its query or of a form post.
    case callback
  }

  /// The place where the answer was found.
  public let place: Place
  /// The parameters of the answer, decoded.
  public let parameters: FormParameters
  /// The address without the response parameters, for comparison with the redirect URI that was sent upstream; `nil` at
  /// the callback.
  let address: String?

  /// Reads a `Location`; `nil` if it has more than `FormParameters.maximumCount` parameters.
  public init?(location: String) {
    place = .location(location)
    // The fragment is ignored: it is an implicit response, or some servers add it so that browsers do not reattach an
    // earlier one. Searches bytes: a separator before a combining mark is not a `Character` of its own, but browsers
    // still split there.
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

  /// The query without the response parameters, byte for byte.
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

  /// Wraps the parameters that arrived at the callback over the network.
  public init(atCallback parameters: FormParameters) {
    place = .callback
    self.parameters = parameters
    address = nil
  }

  /// The sealed state in the answer; `nil` unless there is exactly one.
  public var state: String? { parameters[.state] }
}
