internal import OAuth

/// Reads access logs in the combined format of nginx and Apache. An authorization request is a GET with `client_id` and
/// `response_type` in its query. A token request is a POST, whose parameters are not in the log.
extension LogLine {
  private static let months = [
    "Jan": "01", "Feb": "02", "Mar": "03", "Apr": "04", "May": "05", "Jun": "06", "Jul": "07", "Aug": "08",
    "Sep": "09", "Oct": "10", "Nov": "11", "Dec": "12",
  ]

  static func access(_ line: [UInt8]) -> LogLine {
    guard let opening = line.firstIndex(of: UInt8(ascii: "[")),
      let closing = line[opening...].firstIndex(of: UInt8(ascii: "]")),
      let time = time(line[(opening + 1)..<closing]),
      let start = line[closing...].firstIndex(of: UInt8(ascii: "\"")),
      let end = line[(start + 1)...].firstIndex(of: UInt8(ascii: "\"")),
      let request = String(validating: line[(start + 1)..<end], as: UTF8.self)
    else { return .unreadable }
    let words = request.split(separator: " ", omittingEmptySubsequences: false)
    // A request line that the server could not parse is logged, too.
    guard words.count == 3, words[2].hasPrefix("HTTP/") else { return .other }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = target.first.map(String.init), isPlainPath(path) else { return .other }
    if words[0] == "POST" {
      guard path.split(separator: "/").last?.lowercased().hasPrefix("token") == true else { return .other }
      return .request(SeenRequest(time: time, endpoint: .token, path: path))
    }
    guard words[0] == "GET", target.count == 2, let parameters = FormParameters(parsing: target[1]),
      let client = SeenRequest.limited(parameters[.clientID]), parameters.contains(.responseType)
    else { return .other }
    var seen = authorization(parameters, of: client, time, path)
    seen.peer = String(validating: line.prefix { $0 != UInt8(ascii: " ") }.prefix(64), as: UTF8.self) ?? ""
    return .request(seen)
  }

  private static func authorization(
    _ parameters: FormParameters, of client: String, _ time: String, _ path: String
  ) -> SeenRequest {
    var seen = SeenRequest(time: time, client: client, endpoint: .authorization, path: path)
    seen.responseType = SeenRequest.limited(parameters[.responseType])
    seen.scope = parameters[.scope].flatMap { $0.utf8.count > 1_024 ? nil : $0 }
    if let text = parameters[.redirectURI] {
      if let uri = try? RedirectURI(parsing: text) {
        seen.redirectURI = SeenRequest.limited(uri.address)
      } else {
        seen.redirectURI = "malformed"
        let shown = text.prefix { $0 != "?" && $0 != "#" }
        // A text with user information may contain a password.
        if !shown.contains("@") { seen.malformedRedirectURI = String(shown.prefix(200)) }
      }
    }
    seen.pkce =
      switch (parameters[.codeChallenge], parameters[.codeChallengeMethod]) {
      case (nil, _): "none"
      case (.some, "S256"): "S256"
      case (.some, nil), (.some, "plain"): "plain"
      case (.some, .some): "other"
      }
    return seen
  }

  /// Returns `24/Nov/2026:10:00:00 +0100` in the format of RFC 3339; `nil` for another text.
  private static func time(_ bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.count == 26, let text = String(validating: bytes, as: UTF8.self), text.utf8.count == text.count else {
      return nil
    }
    let parts = text.split { "/: ".contains($0) }
    guard parts.count == 7, let month = months[String(parts[1])],
      [parts[0], parts[2], parts[3], parts[4], parts[5]].allSatisfy({ $0.allSatisfy(\.isNumber) }),
      let sign = parts[6].first, sign == "+" || sign == "-", parts[6].count == 5,
      parts[6].dropFirst().allSatisfy(\.isNumber)
    else { return nil }
    let zone = parts[6] == "+0000" ? "Z" : "\(parts[6].prefix(3)):\(parts[6].suffix(2))"
    return "\(parts[2])-\(month)-\(parts[0])T\(parts[3]):\(parts[4]):\(parts[5])\(zone)"
  }

  private static func isPlainPath(_ path: String) -> Bool {
    path.hasPrefix("/") && path.utf8.count <= 256
      && path.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."), UInt8(ascii: "~"):
          true
        default: false
        }
      }
  }
}
