import HTTP

/// Rewrites the header fields of the upstream's login and consent pages for the browser.
enum UpstreamPageHeaders {
  /// Adds fields that protect an interaction page, and removes those that would break it.
  ///
  /// - `frame-ancestors` and `X-Frame-Options` are added: no other site may frame a login (RFC 9700, section 4.16).
  /// - `Referrer-Policy: same-origin` is added: codes and states in URLs stay on this origin (section 4.2.4).
  ///   `no-referrer` would make the form post carry `Origin: null`, which servers refuse as cross-site.
  /// - `form-action` is removed: browsers apply it to the whole redirect chain, including the redirect to the app
  ///   (`I-pages`).
  /// - CORS fields are removed: no script of another origin needs these pages (section 2.6).
  static func harden(_ response: inout Response, isSecure: Bool) {
    var kept = Headers()
    for field in response.headers.fields {
      switch field.name.lowercased() {
      case "content-security-policy":
        let value = withoutFormAction(field.value)
        if !value.isEmpty { kept.append(field.name, value) }
      case "x-frame-options": continue
      case let name where name.hasPrefix("access-control-"): continue
      case "set-cookie": kept.append(field.name, isSecure ? secured(field.value) : field.value)
      default: kept.append(field.name, field.value)
      }
    }
    kept.append("Content-Security-Policy", "frame-ancestors 'none'")
    kept.append("X-Frame-Options", "DENY")
    if !kept.contains("Referrer-Policy") { kept.append("Referrer-Policy", "same-origin") }
    if !kept.contains("Cache-Control") { kept.append("Cache-Control", "no-store") }
    response.headers = kept
  }

  /// Removes `form-action` from a field, which may hold several policies, separated by commas (Content Security Policy
  /// Level 3, section 2.2).
  private static func withoutFormAction(_ field: String) -> String {
    field.split(separator: ",").map { policy in
      policy.split(separator: ";").map(trimmed).filter { directive in
        !directive.isEmpty && directive.prefix { !isSpace($0) }.lowercased() != "form-action"
      }.joined(separator: "; ")
    }.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop(while: isSpace)
    while let last = text.last, isSpace(last) { text.removeLast() }
    return text
  }

  private static func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }

  /// Adds `Secure`, which an upstream omits if it is not aware of the TLS in front of it.
  static func secured(_ cookie: String) -> String {
    let isSecure = cookie.split(separator: ";").dropFirst().contains { attribute in
      attribute.drop { $0 == " " }.lowercased() == "secure"
    }
    return isSecure ? cookie : cookie + "; Secure"
  }
}
