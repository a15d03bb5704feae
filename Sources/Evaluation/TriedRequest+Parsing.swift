import ByteText

/// The reason why a text is not a request. The message is one line.
public struct RequestTextError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The message, which says what is wrong and what to write.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension TriedRequest {
  /// The maximum length of a request, in bytes: more than any gateway accepts.
  public static let maximumLength = 1 << 20

  /// Parses a request in one of three forms: a URL or a path, which is a GET; a `curl` command line; or an HTTP request
  /// with its header and body, in which the version may be missing.
  public init(parsing text: String) throws(RequestTextError) {
    guard text.utf8.count <= TriedRequest.maximumLength else {
      throw RequestTextError("the request is longer than \(TriedRequest.maximumLength) bytes")
    }
    let start = text.drop { $0.isWhitespace }
    guard let first = start.split(maxSplits: 1, whereSeparator: \.isWhitespace).first else {
      throw RequestTextError("the request is empty; write a URL, a curl command line or an HTTP request")
    }
    if first == "curl" {
      self = try CurlCommand(String(start)).request
    } else if first.hasPrefix("/") || first.contains("://") {
      let rest = start.dropFirst(first.count).drop { $0.isWhitespace }
      guard rest.isEmpty else {
        throw RequestTextError("there is text after the URL; write the URL in quotes, and encode spaces as `%20`")
      }
      self.init(method: "GET", path: "")
      try setTarget(String(first))
    } else {
      self = try TriedRequest(message: String(start))
    }
  }

  /// Parses an HTTP request: a request line, header fields, an empty line, and the body. Lines may end in LF or CRLF.
  private init(message: String) throws(RequestTextError) {
    let text = message.replacing("\r\n", with: "\n")
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
    let words = (lines.popFirst() ?? "").split(separator: " ")
    guard words.count == 2 || words.count == 3 && words[2].hasPrefix("HTTP/"),
      words[0].utf8.allSatisfy(\.isUppercaseLetter), words[1].hasPrefix("/") || words[1].contains("://")
    else {
      throw RequestTextError(
        "the request begins neither with `curl`, nor with a URL, nor with a request line such as `GET /authorize?...`")
    }
    self.init(method: String(words[0]), path: "")
    try setTarget(String(words[1]))
    while let line = lines.popFirst(), !line.isEmpty {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
        throw RequestTextError(
          "a line of the header has no colon; write `Name: value`, and an empty line after the header")
      }
      fields.append(
        Field(String(line[..<colon]), String(line[line.index(after: colon)...].trimming(while: \.isWhitespace))))
    }
    var content = lines.joined(separator: "\n")
    while content.hasSuffix("\n") { content.removeLast() }
    body = Array(content.utf8)
    if let host = all("Host").first { authority = host }
  }

  /// Sets the authority, path and query from a URL or a path.
  mutating func setTarget(_ target: String) throws(RequestTextError) {
    var rest = Substring(target)
    // A path may contain a URL in its query.
    if !target.hasPrefix("/"), let scheme = rest.range(of: "://") {
      guard ["http", "https"].contains(rest[..<scheme.lowerBound].lowercased()) else {
        throw RequestTextError("the URL is neither http nor https; write the address at which the gateway is reached")
      }
      rest = rest[scheme.upperBound...]
      let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
      authority = String(rest[..<end])
      rest = rest[end...]
    }
    if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
    let mark = rest.firstIndex(of: "?")
    path = String(rest[..<(mark ?? rest.endIndex)])
    if path.isEmpty { path = "/" }
    query = mark.map { String(rest[rest.index(after: $0)...]) }
  }
}

extension Substring {
  /// Returns the text without the characters at both ends that satisfy the condition.
  func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
    var text = drop(while: isTrimmed)
    while let last = text.last, isTrimmed(last) { text.removeLast() }
    return text
  }

  fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }
}
