@testable import OAuth

/// Input: two lines, a requested and a registered redirect URI. A browser parses an accepted URI as the gateway does.
enum RedirectURITarget {
  static func check(_ input: [UInt8]) throws(Violation) {
    let lines = input.split(separator: 0x0a, maxSplits: 1, omittingEmptySubsequences: false)
    guard let text = String(validating: lines[0], as: UTF8.self), let uri = try? RedirectURI(parsing: text) else {
      return
    }
    try Violation.unless(uri.text.utf8.elementsEqual(text.utf8), "the text was changed")
    try Violation.unless((try? RedirectURI(parsing: uri.text)) == uri, "a second reading differs from the first")
    let bytes = Array(uri.text.utf8)
    let forbidden = Set(" \\#<>\"{}|^`*".utf8)
    try Violation.unless(
      bytes.allSatisfy { $0 > 0x20 && $0 < 0x7f } && forbidden.isDisjoint(with: bytes), "a character with two readings")
    try checkOutline(uri)
    try checkBrowser(uri, bytes)
    try checkQuery(uri, bytes)
    guard lines.count > 1, let other = String(validating: lines[1], as: UTF8.self),
      let registered = try? RedirectURI(parsing: other)
    else { return }
    try checkMatch(uri, registered)
  }

  /// The outline is of the same kind, for every rule that does not compare two URIs.
  private static func checkOutline(_ uri: RedirectURI) throws(Violation) {
    let outline = uri.outline
    try Violation.unless(outline.text.utf8.count <= uri.text.utf8.count, "a longer outline")
    try Violation.unless(outline.outline == outline, "the outline of an outline differs")
    switch (uri.kind, outline.kind) {
    case (.loopback(let family, _), .loopback(let other, _)) where family == other: break
    case (.localhost, .localhost): break
    default: try Violation.unless(uri.kind == outline.kind, "an outline of another kind")
    }
  }

  /// The authority that the WHATWG parser finds: after any number of slashes, up to the next slash, after the last `@`.
  private static func checkBrowser(_ uri: RedirectURI, _ bytes: [UInt8]) throws(Violation) {
    let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
    let isSpecial = ["http", "https"].contains(String(decoding: scheme, as: UTF8.self))
    let rest = bytes.dropFirst(scheme.count + 1).drop { $0 == UInt8(ascii: "/") }
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    let host = authority.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last ?? []
    let text = String(decoding: host, as: UTF8.self).lowercased()
    switch uri.kind {
    case .https(let name):
      try Violation.unless(isSpecial && scheme.count == 5, "https in another scheme")
      try Violation.unless(
        text == name.lowercased() || text.hasPrefix(name.lowercased() + ":"), "a browser goes elsewhere")
    case .loopback(let family, let port):
      let name = family == .ipv4 ? "127.0.0.1" : "[::1]"
      try Violation.unless(
        isSpecial && scheme.count == 4 && text == name + suffix(port), "a browser leaves the machine")
    case .localhost(let port):
      try Violation.unless(isSpecial && scheme.count == 4 && text == "localhost" + suffix(port), "not localhost")
    case .privateUse(let scheme):
      let refused = ["http", "https", "javascript", "data", "file", "blob", "about", "vbscript", "ws", "wss", "ftp"]
      try Violation.unless(!refused.contains(scheme) && scheme == scheme.lowercased(), "a scheme that runs something")
    case .windowsBroker: try Violation.unless(!isSpecial, "a broker in another scheme")
    }
  }

  private static func suffix(_ port: Int?) -> String { port.map { ":\($0)" } ?? "" }

  private static func checkQuery(_ uri: RedirectURI, _ bytes: [UInt8]) throws(Violation) {
    let question = bytes.firstIndex(of: UInt8(ascii: "?"))
    try Violation.unless(
      uri.query.map { Array($0.utf8) } == question.map { Array(bytes[($0 + 1)...]) }, "the query is read in two ways")
    try Violation.unless(
      uri.text.hasSuffix(String(uri.pathAndQuery)) && uri.pathAndQuery.hasPrefix(uri.path),
      "the path is not in the text")
    for segment in uri.path.split(separator: "/") {
      let plain = segment.lowercased()
      try Violation.unless(plain != "." && plain != ".." && !plain.contains("%2e"), "a dot segment")
    }
  }

  private static func checkMatch(_ uri: RedirectURI, _ registered: RedirectURI) throws(Violation) {
    let isSame = uri.text == registered.text
    try Violation.unless(uri.matches(registered: registered, variance: []) == isSame, "not byte for byte")
    guard uri.matches(registered: registered, variance: [.loopbackPort, .localhostPort]), !isSame else { return }
    try Violation.unless(
      withoutPort(uri) != nil && withoutPort(uri) == withoutPort(registered), "more than a port differs")
  }

  /// The URI without its port; nil if its port may not vary.
  private static func withoutPort(_ uri: RedirectURI) -> String? {
    for base in ["http://127.0.0.1", "http://[::1]", "http://localhost"] where uri.text.hasPrefix(base) {
      let rest = uri.text.dropFirst(base.count)
      return base + (rest.first == ":" ? rest.dropFirst().drop { $0.isNumber } : rest)
    }
    return nil
  }
}
