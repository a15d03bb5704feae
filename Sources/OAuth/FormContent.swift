internal import ByteText

/// Decides whether a body may be parsed as a form (RFC 6749, appendix B).
public enum FormContent {
  private static let mediaType = "application/x-www-form-urlencoded"
  /// The maximum length of a `Content-Type` that is read. That of a form with each spelling of UTF-8 is shorter.
  private static let maximumLength = 256

  /// Returns true if a body may be parsed as a form (``contentType(of:encodings:)``).
  public static func isForm(types: [String], encodings: [String]) -> Bool {
    contentType(of: types, encodings: encodings) != nil
  }

  /// Returns the `Content-Type` with which a form is forwarded; `nil` if the body must not be parsed as a form. It must
  /// have exactly one `Content-Type`, with the media type `application/x-www-form-urlencoded` and with no parameter or
  /// only `charset=utf-8`. It must not have a content coding other than `identity`.
  ///
  /// No other parameter is defined for the media type (WHATWG URL, section 5). Some servers find a charset also behind a
  /// comma or a space, or in the value of another parameter. They would decode the body by this charset, and could find
  /// parameters in it that the gateway does not see.
  ///
  /// - Parameters:
  ///   - types: The values of all `Content-Type` fields.
  ///   - encodings: The values of all `Content-Encoding` fields.
  public static func contentType(of types: [String], encodings: [String]) -> String? {
    guard types.count == 1, encodings.allSatisfy({ $0.isEqualIgnoringCase(to: "identity") }) else { return nil }
    // Nearly all clients use this spelling.
    if types[0].isEqualIgnoringCase(to: mediaType) { return mediaType }
    guard types[0].utf8.count <= maximumLength else { return nil }
    let (name, parameters) = parts(of: types[0])
    guard name.isEqualIgnoringCase(to: mediaType) else { return nil }
    if parameters.isEmpty { return mediaType }
    return isUTF8(parameters) ? mediaType + "; charset=UTF-8" : nil
  }

  /// Returns true if a `Content-Type` names another charset than UTF-8. Some servers decode the query by it, even if the
  /// request has no body.
  static func namesOtherCharset(_ types: [String]) -> Bool {
    types.contains { type in
      guard type.utf8.count <= maximumLength else { return true }
      let (name, parameters) = parts(of: type)
      return hasCharset(name) || parameters.contains(where: hasCharset) && !isUTF8(parameters)
    }
  }

  private static func hasCharset(_ text: String) -> Bool {
    let text = text.utf8.map { $0.lowercasedASCII }
    return text.span.contains("charset")
  }

  /// Returns the media type and the parameters that are not empty. Splits the text by bytes: Swift's `Character` may
  /// combine a semicolon with a combining mark after it, but the semicolon still begins a parameter.
  private static func parts(of type: String) -> (name: String, parameters: [String]) {
    let parts = type.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
      .map { String(decoding: $0.trimmed(while: \.isBlank), as: UTF8.self) }
    return (parts.first ?? "", parts.dropFirst().filter { !$0.isEmpty })
  }

  private static func isUTF8(_ parameters: [String]) -> Bool {
    guard parameters.count == 1, let parameter = parameters.first else { return false }
    return utf8Parameters.contains { parameter.isEqualIgnoringCase(to: $0) }
  }

  /// The parameters that mean UTF-8. The name without a hyphen is not registered, but common.
  private static let utf8Parameters = [
    "charset=utf-8", "charset=\"utf-8\"", "charset=utf8", "charset=\"utf8\"",
  ]

  /// Returns a form without the line end that some clients send behind it.
  public static func withoutFinalLineEnd(_ body: [UInt8]) -> [UInt8] {
    guard body.last == UInt8(ascii: "\n") else { return body }
    let rest = body.dropLast()
    return Array(rest.last == UInt8(ascii: "\r") ? rest.dropLast() : rest)
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
