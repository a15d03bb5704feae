import HTTP

/// Headers of the upstream's login and consent pages on their way to the browser.
enum UpstreamPageHeaders {
  /// Adds what protects a page of the interaction, and removes what would break it.
  ///
  /// - `frame-ancestors` and `X-Frame-Options`: no other site frames a login (RFC 9700, section 4.16).
  /// - `Referrer-Policy: same-origin`: codes and states in addresses stay on this origin (section 4.2.4). Not
  ///   `no-referrer`: the form post would then carry `Origin: null`, which servers refuse as cross-site.
  /// - `form-action` goes: browsers apply it along the redirect chain, up to the jump to the app (`I-pages`).
  /// - CORS fields go: no script of another origin has business here (section 2.6).
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

  /// One field may hold several policies, separated by commas (Content Security Policy Level 3, section 2.2).
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

  /// An upstream that does not know of the TLS in front of it leaves `Secure` out.
  static func secured(_ cookie: String) -> String {
    let isSecure = cookie.split(separator: ";").dropFirst().contains { attribute in
      attribute.drop { $0 == " " }.lowercased() == "secure"
    }
    return isSecure ? cookie : cookie + "; Secure"
  }
}
