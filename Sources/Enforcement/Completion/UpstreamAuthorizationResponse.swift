internal import ByteText
public import OAuth
internal import PathReading
import Policy

/// An authorization response of the upstream. It is in the `Location` of the upstream's response to a forwarded
/// request, or in a request to the gateway's callback.
///
/// Only the parameters that the gateway knows are read. All others are ignored (RFC 6749, section 4.1.2), except those
/// that `upstream.response_parameters` lists for the client.
public struct UpstreamAuthorizationResponse: Sendable {
  /// The places where a response can be found.
  public enum Source: Sendable {
    /// The value of a `Location` field in a response of the upstream.
    case location(String)
    /// A request to the callback, in which the parameters are in the query or in a posted form.
    case callback
  }

  /// The place where the response was found.
  public let source: Source
  /// The parameters of the response, decoded.
  public let parameters: FormParameters
  /// The position in the location at which its query begins, without the question mark, and at which it ends. Both are
  /// 0 at the callback.
  private let query: Range<Int>
  /// The number of bytes in front of the query or the fragment.
  private let addressLength: Int

  /// Parses the value of a `Location` field; `nil` if its query has more than `FormParameters.maximumCount` parameters.
  public init?(location: String) {
    source = .location(location)
    // The fragment is ignored. It contains a response of the implicit grant, or the server added it so that browsers do
    // not attach an earlier fragment.
    //
    // Bytes are compared, as in browsers: Swift's `Character` may combine a separator with a combining mark after it.
    let bytes = location.utf8.span
    let target = bytes.extracting(0..<(bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count))
    addressLength = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
    query = min(addressLength + 1, target.count)..<target.count
    guard let parameters = FormParameters(parsing: target.extracting(query)) else { return nil }
    self.parameters = parameters
  }

  /// Creates the response from the parameters of a request to the callback.
  public init(atCallback parameters: FormParameters) {
    source = .callback
    self.parameters = parameters
    query = 0..<0
    addressLength = 0
  }

  /// The value of `state`; `nil` if the response contains none or several.
  public var state: String? { parameters[.state] }

  /// The address in the `Location`, without its query and its fragment. `nil` at the callback.
  var address: String? {
    guard case .location(let location) = source else { return nil }
    return String(decoding: location.utf8.prefix(addressLength), as: UTF8.self)
  }

  /// Returns true if the location is this redirect URI with the parameters of the response: scheme, authority and path
  /// are the same bytes, and its query contains the query of the redirect URI unchanged (`SentQuery`). Other parameters
  /// do not matter (RFC 6749, section 4.1.2). Always false at the callback.
  public func isSent(to redirectURI: String) -> Bool {
    guard case .location(let location) = source else { return false }
    let bytes = location.utf8.span
    let sent = redirectURI.utf8.span
    let mark = sent.firstIndex(of: UInt8(ascii: "?")) ?? sent.count
    guard bytes.extracting(0..<addressLength).isEqual(to: sent.extracting(0..<mark)) else { return false }
    guard mark < sent.count else { return true }
    return SentQuery(sent.extracting((mark + 1)...)).isKept(in: bytes.extracting(query))
  }

  /// True if a code or a `state` is also in the response under a name that some program takes for `code` or `state`, such
  /// as `Code` or `code[]`, or if an error is so in a response with a code. Such a response has two readings.
  var hasSecondSpelling: Bool {
    let names = parameters.contains(.code) ? ParameterNames(.code, .state, .error) : ParameterNames(.code, .state)
    // A server that separates parameters at semicolons would have written a semicolon in a value as `%3B`. An error
    // description may contain one.
    return parameters.alternativeSpelling(of: names, foldToASCII: LenientDecoding.folded, afterSemicolons: false) != nil
  }

  /// Returns the parameters of the response that `upstream.response_parameters` lists, in the order of the policy.
  /// `isComplete` is false if a listed parameter was left out although it has a value.
  ///
  /// A value is left out if it is repeated, cannot be decoded, or is too long. So is a name in the query of a redirect
  /// URI: such a pair is a part of the URI, and the client would find two.
  func listedParameters(
    for transaction: AuthorizationTransaction, _ policy: Policy
  ) -> (entries: [FormParameters.Entry], isComplete: Bool) {
    let names = policy.upstream.responseParameters
    guard !names.isEmpty else { return ([], true) }
    let redirectURIs = [transaction.redirectURI.text, transaction.upstreamRedirectURI]
    var entries: [FormParameters.Entry] = []
    var isComplete = true
    for name in names {
      switch parameters.lookUp(named: name) {
      case .absent: break
      case .value(let value)
      where value.utf8.count <= ResponseParameters.maximumValueLength
        && !redirectURIs.contains { UpstreamAuthorizationResponse.hasParameter(name, in: $0) }:
        entries.append(FormParameters.Entry(name, value))
      case .value, .repeated, .malformed: isComplete = false
      }
    }
    return (entries, isComplete)
  }

  /// Returns true if the query of the redirect URI has a parameter with the name, or too many to be read.
  private static func hasParameter(_ name: String, in redirectURI: String) -> Bool {
    guard let mark = redirectURI.utf8.firstIndex(of: UInt8(ascii: "?")) else { return false }
    guard let query = FormParameters(parsing: redirectURI[redirectURI.utf8.index(after: mark)...]) else { return true }
    return query.entries.contains { $0.name == name } || query.namesWithMalformedValue.contains(name)
  }
}
