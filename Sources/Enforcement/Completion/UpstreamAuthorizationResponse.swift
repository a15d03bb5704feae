internal import ByteText
public import OAuth

/// An authorization response of the upstream. It is in the `Location` of a response that the gateway forwards, or in a
/// request to the gateway's callback.
public struct UpstreamAuthorizationResponse: Sendable {
  /// The place where the response was found.
  public enum Place: Sendable {
    /// The value of a `Location` field in a response of the upstream.
    case location(String)
    /// A request to the callback, in which the parameters are in the query or in a posted form.
    case callback
  }

  /// The place where the response was found.
  public let place: Place
  /// The parameters of the response, decoded.
  public let parameters: FormParameters
  /// The address in the `Location`, without its fragment and without the parameters of the response. It is compared
  /// with the redirect URI that was sent upstream. `nil` at the callback.
  let address: String?

  /// Parses the value of a `Location` field; `nil` if its query has more than `FormParameters.maximumCount` parameters.
  public init?(location: String) {
    place = .location(location)
    // The fragment is ignored. It contains an implicit response, or the server added it so that browsers do not attach
    // an earlier fragment.
    //
    // Bytes are compared, as in browsers: Swift's `Character` may combine a separator with a combining mark after it.
    let bytes = location.utf8.span
    let target = bytes.extracting(0..<(bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count))
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

  /// Returns the query without the parameters of the response; the rest is unchanged.
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

  /// Creates the response from the parameters of a request to the callback.
  public init(atCallback parameters: FormParameters) {
    place = .callback
    self.parameters = parameters
    address = nil
  }

  /// The value of `state`; `nil` if the response contains none or several.
  public var state: String? { parameters[.state] }
}
