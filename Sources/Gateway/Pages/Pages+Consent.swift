public import HTTP
import Markup
import Policy

extension Pages {
  /// Returns the page that asks the user to allow the access that the app requests. The page posts the fields of
  /// ``ConsentPage/Field``.
  ///
  /// The buttons have the same order on screen and for the keyboard. The Allow button ignores clicks in the first
  /// second, because another site could make the user double-click at the position where the button is about to appear.
  ///
  /// The page has `Referrer-Policy: no-referrer`, so the form post has `Origin: null`, and only the field
  /// ``ConsentPage/Field/token`` shows that the post comes from this page. A caller that needs the real `Origin`
  /// replaces the header field `Referrer-Policy` of the response.
  public func consent(_ page: ConsentPage) -> Response {
    let name = page.clientName ?? (page.isSelfNamed ? title(.consentAppWithoutName) : page.clientID)
    let plainName: HTML = "<bdi>\(visible: name)</bdi>"
    // The name of a registered client is its own claim, so it is quoted, also in the title.
    let isClaim = page.isSelfNamed && page.clientName != nil
    let shown: HTML =
      isClaim
      ? text(page.isProgramOnDevice ? .consentSelfNamedProgram : .consentSelfNamedApp, ["name": plainName]) : plainName
    let titleName = isClaim ? title(.consentSelfNamedApp, ["name": name]) : name
    let identity: HTML =
      page.clientName == nil || page.isSelfNamed ? "" : "<code class=\"id\">\(visible: page.clientID)</code>"
    let tag: HTML = page.identity == .unverified ? " <span class=\"tag\">\(text(.consentUnverified))</span>" : ""
    let warning: HTML =
      switch page.identity {
      case .proven: ""
      case .vouchedFor: "<p class=\"soft\">\(text(.consentOtherApps))</p>\n"
      case .unverified: "<p class=\"note\">\(text(.consentWarning))</p>\n"
      }
    return response(
      status: 200,
      title: page.isProgramOnDevice ? title(.consentTitleProgram) : title(.consentTitle, ["app": titleName]),
      """
      <h1>\(text(.consentHeading, ["app": shown]))</h1>
      <p class="soft">\(text(.consentNext))</p>
      <dl class="facts">
      <div><dt>\(text(.consentApp))</dt><dd>\(shown)\(tag)\(identity)</dd></div>
      \(documentFact(page))<div><dt>\(text(.consentDestination))</dt><dd>\(page.destination.description(on: self))</dd></div>
      \(resourceFact(page.resource))<div><dt>\(text(.consentScopes))</dt><dd><ul>
      \(scopeItems(page.scopes))</ul></dd></div>
      </dl>
      \(warning)<form method="post" action="\(url: page.action)" class="actions">
      <input type="hidden" name="\(ConsentPage.Field.token)" value="\(page.token)">
      <button type="submit" class="second" name="\(ConsentPage.Field.decision)" \
      value="\(ConsentPage.Field.deny)">\(text(.consentDeny))</button>
      <button type="submit" class="deliberate" name="\(ConsentPage.Field.decision)" \
      value="\(ConsentPage.Field.approve)">\(text(.consentAllow))</button>
      </form>
      """)
  }

  /// Returns the row with the host of the metadata document; empty without one. Any program on the device can name the
  /// URL of the document, so the host says nothing about such a program.
  private func documentFact(_ page: ConsentPage) -> HTML {
    guard let host = page.documentHost else { return "" }
    let name: HTML = "<code>\(visible: host)</code>"
    let words = page.isProgramOnDevice ? text(.consentDescribedByNoProof, ["host": name]) : name
    return "<div><dt>\(text(.consentDescribedBy))</dt><dd>\(words)</dd></div>\n"
  }

  /// Returns the row with the resource that the app wants to use; empty without one.
  func resourceFact(_ resource: ConsentPage.Resource?) -> HTML {
    guard let resource else { return "" }
    guard let name = resource.name else {
      return "<div><dt>\(text(.consentResource))</dt><dd><code>\(visible: resource.identifier)</code></dd></div>\n"
    }
    return """
      <div><dt>\(text(.consentResource))</dt><dd><bdi>\(visible: name)</bdi>\
      <code class="id">\(visible: resource.identifier)</code></dd></div>

      """
  }

  /// Returns the items of a list of scopes, each with its description if the language of the page has one.
  func scopeItems(_ scopes: [String]) -> [HTML] {
    guard !scopes.isEmpty else { return ["<li>\(text(.consentScopeNone))</li>\n"] }
    return scopes.map { scope in
      guard let description = catalogue.description(ofScope: scope) else {
        return "<li>\(text(.consentScopeOther, ["scope": "<code>\(visible: scope)</code>"]))</li>\n"
      }
      return "<li>\(description) <code class=\"soft\">\(visible: scope)</code></li>\n"
    }
  }
}
