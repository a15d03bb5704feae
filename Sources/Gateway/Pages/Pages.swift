import Cryptography
import FoundationEssentials
import HTTP
public import Policy

/// The gateway's own pages (`I-pages`).
///
/// The functions return complete responses. A page contains its style sheet and, if it needs one, its script. It loads
/// nothing else. No site may frame the page, and no cache may store it. The content security policy contains the hashes
/// of this style sheet and script, and permits no others.
public struct Pages: Sendable {
  /// The operator's name, logo and support link.
  public let branding: Branding
  /// The URL of the list of rules, for programs. The URLs of the pages on the rules begin with it.
  let rulesURL: String
  /// The id of the request that the pages answer, for error pages; `nil` for pages without a request.
  private(set) var requestID: String?

  /// Creates pages with the operator's branding, and the URL of the list of rules.
  public init(branding: Branding = Branding(), rulesURL: String = GatewaySettings.rulesPath) {
    self.branding = branding
    self.rulesURL = rulesURL
  }

  /// Returns the pages that answer the request with this id.
  func naming(request id: String) -> Pages {
    var pages = self
    pages.requestID = id
    return pages
  }

  /// Returns the response with the id of the request in its header.
  func marked(_ response: Response) -> Response {
    guard let requestID else { return response }
    var response = response
    response.headers.set(RequestReference.fieldName, requestID)
    return response
  }

  /// Returns a page with `content` between the header and the footer that all pages share.
  ///
  /// - Parameters:
  ///   - title: The title of the browser tab.
  ///   - script: True to add ``SubmitScript``, which submits the form of the page.
  func response(status: Int, title: String, script: Bool = false, _ content: HTML) -> Response {
    let page: HTML = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      <title>\(visible: title)\(brandSuffix)</title>
      <style>\(Stylesheet.source)</style>
      </head>
      <body>
      <div class="sheet">
      \(header)<main>
      \(content)
      </main>
      \(footer)</div>
      \(script ? SubmitScript.element : nil)</body>
      </html>

      """
    let headers: Headers = [
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": script ? Pages.contentSecurityPolicyWithScript : Pages.contentSecurityPolicy,
      "X-Frame-Options": "DENY",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    ]
    return Response(status: status, headers: headers, body: Array(page.text.utf8))
  }

  /// The content security policy of the pages. It contains no `form-action`: browsers apply this directive to the whole
  /// redirect chain after a form is submitted, so it would block the redirect to the app (`I-pages`).
  private static let contentSecurityPolicy =
    "default-src 'none'; style-src '\(hash(Stylesheet.source))'; base-uri 'none'; frame-ancestors 'none'"

  private static let contentSecurityPolicyWithScript =
    contentSecurityPolicy + "; script-src '\(hash(SubmitScript.source))'"

  /// Returns a hash source: the SHA-256 digest in base64 with padding (Content Security Policy Level 3, section 2.3.1).
  private static func hash(_ source: HTML) -> String {
    "sha256-" + Data(sha256(Array(source.text.utf8))).base64EncodedString()
  }

  private var brandSuffix: HTML? {
    branding.name.map { " · \(visible: $0)" }
  }

  private var header: HTML? {
    branding.name.map { "<header><p class=\"brand\">\(visible: $0)</p></header>\n" }
  }

  private var footer: HTML? {
    branding.supportURL.map { "<footer><p><a href=\"\(url: $0)\">Get help</a></p></footer>\n" }
  }
}
