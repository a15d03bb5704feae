internal import ByteText

/// Decides whether a body may be parsed as a form (RFC 6749, appendix B).
public enum FormContent {
  /// Returns true if a body may be parsed as a form. It must have exactly one `Content-Type`, with the media type
  /// `application/x-www-form-urlencoded` and with no charset or the charset UTF-8 or US-ASCII. It must not have a
  /// content coding other than `identity`.
  /// - Parameters:
  ///   - types: The values of all `Content-Type` fields.
  ///   - encodings: The values of all `Content-Encoding` fields.
  public static func isForm(types: [String], encodings: [String]) -> Bool {
    guard types.count == 1, encodings.allSatisfy({ $0.lowercased() == "identity" }) else { return false }
    // Nearly all clients use this spelling.
    if types[0].isEqualIgnoringCase(to: "application/x-www-form-urlencoded") { return true }
    // Split the text by bytes. Swift's `Character` may combine a semicolon with a combining mark after it, but the
    // semicolon still begins a parameter.
    let parts = types[0].utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { String(decoding: $0.trimmed(while: \.isBlank), as: UTF8.self).lowercased() }
    guard parts[0] == "application/x-www-form-urlencoded" else { return false }
    // If the upstream decoded the body by another charset, it could find parameters that the gateway does not see.
    return parts.dropFirst().allSatisfy { parameter in
      guard parameter.hasPrefix("charset") else { return true }
      return ["charset=utf-8", "charset=\"utf-8\"", "charset=us-ascii"].contains(parameter)
    }
  }
}

/// A defect of a request to an OAuth endpoint: the method is wrong, or servers could read different parameters in it.
public enum RequestDefect: Sendable, Equatable {
  /// The endpoint does not accept the method.
  case method
  /// The body is not a form.
  case bodyNotForm
  /// The query or the body has more than `FormParameters.maximumCount` parameters.
  case tooManyParameters
  /// An authorization request has parameters in both the query and the body, or is a GET or HEAD with a body. Two
  /// servers could use different parameters.
  case parametersInQueryAndBody
  /// The URI of a request that a client sends directly, such as a token request, contains OAuth parameters, or more
  /// than `FormParameters.maximumCount` parameters of any kind. This URI must not contain OAuth parameters, because
  /// URIs are recorded in logs. A name that cannot be decoded, or that some server may read as an OAuth parameter,
  /// counts as an OAuth parameter.
  case parametersInQuery
}
