internal import ByteText
import YAML

/// `strip_headers` and `keep_headers` of `upstream:`: patterns (globs) for the names of request fields.
extension PolicyReader {
  /// The fields without which OAuth or HTTP does not work. No glob of `strip_headers` may match one of them.
  private static let neverStripped = [
    "authorization", "connection", "content-encoding", "content-length", "content-type", "cookie", "expect", "host",
    "te", "trailer", "transfer-encoding", "upgrade", "via",
  ]

  /// The fields that the gateway writes itself, or never forwards because they may name a different path, method, host
  /// or charset than the gateway has checked. `keep_headers` must not contain their names.
  static let neverKept = [
    "connection", "content-length", "expect", "forwarded", "host", "http2-settings", "keep-alive", "path-info", "proxy",
    "proxy-connection", "script-name", "te", "trailer", "transfer-encoding", "unencoded-url", "upgrade",
    "x-envoy-original-method", "x-envoy-original-path", "x-forwarded", "x-forwarded-for", "x-forwarded-host",
    "x-forwarded-method", "x-forwarded-path", "x-forwarded-proto", "x-forwarded-uri", "x-host", "x-original-host",
    "x-original-method", "x-original-uri", "x-original-url", "x-rewrite-url", "x-script-name", "x-unencoded-url",
    "x-up-devcap-post-charset", "x-waws-unencoded-url",
  ]

  /// Reads a pattern (glob) or a list of patterns, and reports a pattern that occurs twice. `*` matches any number of
  /// characters, and the case of letters does not matter.
  func headerGlobs(_ field: Field) -> [String] {
    var globs: [String] = []
    for item in list(field, allowsSingleValue: true) {
      guard let glob = text(item) else { continue }
      if let problem = Self.globProblem(glob, isForKeeping: field.name == "keep_headers") {
        error(.invalidValue, item.node, "`\(field.name)` cannot hold \(quoted(glob)); \(problem)")
      } else if globs.contains(glob.lowercased()) {
        error(.duplicateValue, item.node, "\(quoted(glob)) occurs twice in `\(field.name)`; keep one")
      } else {
        globs.append(glob.lowercased())
      }
    }
    return globs
  }

  /// Returns the problem of a glob with its solution; `nil` if there is no problem.
  ///
  /// - Parameter isForKeeping: True for a glob of `keep_headers`, false for `strip_headers`.
  private static func globProblem(_ glob: String, isForKeeping: Bool) -> String? {
    // The characters of a token (RFC 9110, section 5.6.2), which include `*`.
    let isToken = glob.utf8.allSatisfy { byte in
      byte.isToken
    }
    guard isToken else { return "use a field name such as `X-SSO-User`, or a glob such as `x-sso-*`" }
    guard glob.utf8.count(where: { $0 != UInt8(ascii: "*") }) >= 2 else {
      return "it would match nearly every field; write at least two characters other than `*`"
    }
    if isForKeeping {
      guard let name = neverKept.first(where: { folded(glob) == $0 }) else { return nil }
      return "the gateway never forwards `\(name)` of a client"
    }
    guard let name = neverStripped.first(where: { matches(folded(glob)[...], $0[...]) }) else { return nil }
    return "it matches `\(name)`, without which requests do not work"
  }

  /// Returns the glob in lower case, with `-` in place of every character other than letters, digits and `*`, because
  /// some servers treat these characters alike.
  private static func folded(_ glob: String) -> String {
    String(glob.lowercased().map { $0.isLetter || $0.isNumber || $0 == "*" ? $0 : "-" })
  }

  private static func matches(_ glob: Substring, _ name: Substring) -> Bool {
    guard let first = glob.first else { return name.isEmpty }
    guard first == "*" else { return name.first == first && matches(glob.dropFirst(), name.dropFirst()) }
    return name.indices.contains { matches(glob.dropFirst(), name[$0...]) } || matches(glob.dropFirst(), "")
  }
}
