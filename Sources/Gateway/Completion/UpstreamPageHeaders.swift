internal import ByteText
import HTTP

/// Changes the header fields of the upstream's login and consent pages for the browser.
enum UpstreamPageHeaders {
  /// Adds fields that protect a login or consent page, and removes fields that would prevent the redirect to the app or
  /// expose the page.
  ///
  /// - `frame-ancestors 'none'` and `X-Frame-Options: DENY` are added, because no site may frame a login page (RFC
  ///   9700, section 4.16).
  /// - `Referrer-Policy: same-origin` is added unless the page has such a field, so that codes and states in URLs do
  ///   not reach other origins (section 4.2.4). With `no-referrer`, a form post would have `Origin: null`, and servers
  ///   would refuse it as cross-site.
  /// - `Cache-Control: no-store` is added unless the page has such a field.
  /// - `form-action` is removed, because browsers apply it to the whole redirect chain after a form is submitted, and
  ///   so to the redirect to the app (`I-pages`).
  /// - CORS fields are removed, because no script of another origin needs these pages (section 2.6).
  /// - `Secure` is added to cookies if `isSecure` is true.
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

  /// Removes the directive `form-action` from the policies in the field. The policies are separated by commas (Content
  /// Security Policy Level 3, section 2.2).
  private static func withoutFormAction(_ field: String) -> String {
    field.split(separator: ",").map { policy in
      policy.split(separator: ";").map { $0.trimmed(while: \.isBlank) }.filter { directive in
        !directive.isEmpty && directive.prefix { !$0.isBlank }.lowercased() != "form-action"
      }.joined(separator: "; ")
    }.filter { !$0.isEmpty }.joined(separator: ", ")
  }

  /// Adds the attribute `Secure` if it is missing. An upstream omits it if it does not know that browsers use https.
  static func secured(_ cookie: String) -> String {
    let isSecure = cookie.split(separator: ";").dropFirst().contains { attribute in
      attribute.drop { $0 == " " }.lowercased() == "secure"
    }
    return isSecure ? cookie : cookie + "; Secure"
  }
}
