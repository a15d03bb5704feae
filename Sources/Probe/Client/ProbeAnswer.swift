import ByteText
import HTTP
import JSON

/// The response to a request of the probe.
package struct ProbeAnswer: Sendable {
  /// The maximum length of a body in bytes; the rest is not read. Metadata documents have up to 128 KiB.
  static let bodyLimit = 128 * 1024

  package let status: Int
  package let headers: Headers
  /// The body, cut at ``bodyLimit``.
  package let body: [UInt8]

  /// Creates an answer.
  package init(status: Int, headers: Headers, body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = Array(body.prefix(ProbeAnswer.bodyLimit))
  }

  /// The form of a body.
  package enum Format: String, Sendable {
    case json, form, page, empty, other

    /// The form in words.
    var words: String {
      switch self {
      case .json: "JSON"
      case .form: "a form"
      case .page: "a page"
      case .empty: "no body"
      case .other: "another format"
      }
    }
  }

  /// The media type in lower case, without parameters.
  var mediaType: String {
    (headers["Content-Type"] ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
  }

  /// The form of the body. A form without the right media type is recognised by a member of OAuth.
  var format: Format {
    if body.isEmpty { return .empty }
    if JSONValue.members(of: body) != nil { return .json }
    if mediaType == "application/x-www-form-urlencoded" || !formMembers.isEmpty { return .form }
    return mediaType.contains("html") || contains("<html") ? .page : .other
  }

  /// The strings and numbers of the JSON object or of the form in the body, by name.
  var members: [String: String] {
    guard let object = JSONValue.members(of: body) else { return formMembers }
    return object.compactMapValues { value in
      switch value {
      case .string(let text): text
      case .integer(let number): String(number)
      case .null, .bool, .number, .array, .object: nil
      }
    }
  }

  private var formMembers: [String: String] {
    guard !mediaType.contains("html"), body.count <= 16 * 1024 else { return [:] }
    let pairs = QueryText.pairs(String(decoding: body, as: UTF8.self))
    return pairs.keys.contains { $0.hasPrefix("error") || $0 == "access_token" } ? pairs : [:]
  }

  /// True if the body contains the text, which is in lower case; upper-case letters of the body match, too. The bytes
  /// are compared, because a search for characters takes seconds in a long body.
  func contains(_ text: String) -> Bool {
    var lowered = body
    for index in lowered.indices where (0x41...0x5a).contains(lowered[index]) { lowered[index] |= 0x20 }
    return lowered.span.contains(text)
  }
}
