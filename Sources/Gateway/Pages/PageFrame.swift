import FoundationEssentials
import Markup
import Policy

/// The parts that all pages of a policy share: the style sheet with the operator's color, the logo, and the content
/// security policies.
struct PageFrame: Sendable {
  let stylesheet: HTML
  /// The image; `nil` without a logo.
  let logo: HTML?
  /// The content security policy of the pages. It contains no `form-action`: browsers apply this directive to the whole
  /// redirect chain after a form is submitted, so it would block the redirect to the app (`I-pages`).
  let contentSecurityPolicy: String
  let contentSecurityPolicyWithScript: String

  init(_ branding: Branding) {
    stylesheet = "\(Stylesheet.source)\(Stylesheet.colors(of: branding))"
    logo = branding.logo.map { logo in
      let address = "data:\(logo.type);base64,\(Data(logo.content).base64EncodedString())"
      // The name is next to the logo, so the image needs no text of its own.
      return "<img src=\"\(address)\" alt=\"\">"
    }
    // The image is part of the page, so only the scheme `data` is permitted.
    contentSecurityPolicy =
      "default-src 'none'; style-src \(stylesheet.hashSource); base-uri 'none'; frame-ancestors 'none'"
      + (logo == nil ? "" : "; img-src data:")
    contentSecurityPolicyWithScript =
      contentSecurityPolicy + "; script-src \(SubmitScript.source.hashSource)"
  }
}
