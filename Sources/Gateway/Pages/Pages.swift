import HTTP
import Markup
public import Policy

/// The gateway's own pages (`I-pages`).
///
/// The functions return complete responses. A page contains its style sheet and, if it needs one, its script. It loads
/// nothing else. No site may frame the page, and no cache may store it. The content security policy contains the hashes
/// of this style sheet and script, and permits no others. The texts are those of ``PageCatalogue``.
public struct Pages: Sendable {
  /// The operator's name, logo, color and support link.
  public let branding: Branding
  /// The languages of the pages.
  let catalogues: [PageCatalogue]
  /// The language of these pages.
  var catalogue: PageCatalogue
  private let frame: PageFrame
  /// The URL of the list of rules, for programs. The URLs of the pages on the rules begin with it.
  let rulesURL: String
  /// The id of the request that the pages answer, for error pages; `nil` for pages without a request.
  private(set) var requestID: String?

  /// Creates pages with the operator's branding, and the URL of the list of rules.
  public init(branding: Branding = Branding(), rulesURL: String = GatewaySettings.rulesPath) {
    self.branding = branding
    self.rulesURL = rulesURL
    catalogues = PageCatalogue.all(with: branding.texts)
    let language = branding.defaultLanguage.lowercased()
    catalogue = catalogues.first { $0.language.lowercased() == language } ?? .english
    frame = PageFrame(branding)
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
      <html lang="\(catalogue.language)" dir="\(catalogue.direction)">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      <title>\(visible: title)\(brandSuffix)</title>
      <style>\(frame.stylesheet)</style>
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
      "Content-Language": catalogue.language,
      "Vary": "Accept-Language",
      "Content-Security-Policy": script ? frame.contentSecurityPolicyWithScript : frame.contentSecurityPolicy,
      // A link of another site cannot open a page scrolled to its buttons, below what they decide.
      "Document-Policy": "force-load-at-top",
      "X-Frame-Options": "DENY",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    ]
    return Response(status: status, headers: headers, body: page.utf8)
  }

  private var brandSuffix: HTML? {
    branding.name.map { " · \(visible: $0)" }
  }

  private var header: HTML? {
    guard branding.name != nil || frame.logo != nil else { return nil }
    let name: HTML? = branding.name.map { "<span>\(visible: $0)</span>" }
    return "<header><p class=\"brand\">\(frame.logo)\(name)</p></header>\n"
  }

  private var footer: HTML? {
    branding.supportURL.map { "<footer><p><a href=\"\(url: $0)\">\(text(.help))</a></p></footer>\n" }
  }
}
