internal import ByteText

/// Decides whether a body may be parsed as a form (RFC 6749, appendix B).
public enum FormContent {
  /// True if a body may be parsed as a form: it has one content type, which is that of forms, no content coding, and no
  /// charset other than UTF-8 or US-ASCII.
  /// - Parameters:
  ///   - types: The values of all `Content-Type` fields.
  ///   - encodings: The values of all `Content-Encoding` fields.
  public static func isForm(types: [String], encodings: [String]) -> Bool {
    guard types.count == 1, encodings.allSatisfy({ $0.lowercased() == "identity" }) else { return false }
    // Nearly all clients use this spelling.
    if types[0].isEqualIgnoringCase(to: "application/x-www-form-urlencoded") { return true }
    // The text is split by bytes. Swift's `Character` may combine a semicolon with a mark that follows, but the
    // semicolon still begins a parameter.
    let parts = types[0].utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { String(decoding: $0.trimmed(while: \.isBlank), as: UTF8.self).lowercased() }
    guard parts[0] == "application/x-www-form-urlencoded" else { return false }
    // With another charset, the upstream could find parameters in bytes that have another meaning in UTF-8.
    return parts.dropFirst().allSatisfy { parameter in
      guard parameter.hasPrefix("charset") else { return true }
      return ["charset=utf-8", "charset=\"utf-8\"", "charset=us-ascii"].contains(parameter)
    }
  }
}

/// The reason why a request to an OAuth endpoint has no single set of parameters.
public enum FormProblem: Sendable, Equatable {
  /// The endpoint does not accept the method.
  case method
  /// The body is not a form.
  case bodyType
  /// The query or the body has more than `FormParameters.maximumCount` parameters.
  case tooManyParameters
  /// An authorization request has parameters in both the query and the body, or is a GET or HEAD with a body. Two
  /// servers could use different parameters.
  case split
  /// A request that a client sends, such as a token request, has OAuth parameters or too many parameters in its URI,
  /// which is recorded in logs.
  case query
}
