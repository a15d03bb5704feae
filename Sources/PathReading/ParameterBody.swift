internal import ByteText

/// The types of request bodies from which servers read parameters.
public enum ParameterBody: Sendable {
  /// A form, or a text that some servers read as one.
  case urlEncoded
  case multipart
  case json

  /// Reads a media type; `nil` for a type from which no known server reads parameters. Some servers look only for a part of the
  /// type, and ignore the text behind it.
  public init?(mediaType: Span<UInt8>) {
    let type = [UInt8](copying: mediaType.extracting(first: ParameterBody.examinedLength)).map(\.lowercasedASCII)
    let bytes = type.span
    if bytes.contains("urlencoded") || bytes.contains("url-encoded") {
      self = .urlEncoded
    } else if bytes.starts(with: "multipart/".utf8.span) {
      self = .multipart
    } else if bytes.starts(with: "application/grpc".utf8.span) {
      // A stream in both directions, which would wait for ever.
      return nil
    } else if bytes.contains("/json") || bytes.contains("+json") || bytes.contains("/x-json") {
      self = .json
    } else if bytes.starts(with: "text/plain".utf8.span) {
      // Browsers send forms with this type, too.
      self = .urlEncoded
    } else {
      return nil
    }
  }

  /// Longer than each of the types. A part of the type behind it does not count.
  private static let examinedLength = 128

  /// The OAuth parameters in the body, in every spelling that some server accepts.
  public func names(in body: Span<UInt8>) -> OAuthNames {
    switch self {
    // CGI.pm reads the body of PUT and PATCH as a form whatever the type says.
    case .multipart: OAuthNames(multipart: body).union(OAuthNames(form: body))
    case .json: OAuthNames(json: body)
    case .urlEncoded:
      // Some servers read JSON whatever the type says.
      ParameterBody.beginsLikeJSON(body) ? OAuthNames(form: body).union(OAuthNames(json: body)) : OAuthNames(form: body)
    }
  }

  private static func beginsLikeJSON(_ body: Span<UInt8>) -> Bool {
    var index = 0
    while index < body.count, body[index] <= 0x20 { index += 1 }
    return index < body.count && body[index] == UInt8(ascii: "{")
  }
}
