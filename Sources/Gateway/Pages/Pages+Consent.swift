public import HTTP

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
    let name = page.clientName ?? (page.isSelfNamed ? "an app without a name" : page.clientID)
    // The name of a registered client is its own claim.
    let kind: HTML = page.isProgramOnDevice ? "a program on this device" : "an app"
    let claim: HTML = page.isSelfNamed && page.clientName != nil ? "\(kind) that calls itself " : ""
    let shown: HTML = "\(claim)<bdi>\(visible: name)</bdi>"
    let identity: HTML =
      page.clientName == nil || page.isSelfNamed ? "" : "<code class=\"id\">\(visible: page.clientID)</code>"
    let tag: HTML = page.identityIsProven ? "" : " <span class=\"tag\">unverified</span>"
    let host: HTML =
      page.shownDocumentHost.map { "<div><dt>Described by</dt><dd><code>\(visible: $0)</code></dd></div>\n" } ?? ""
    let warning: HTML =
      page.identityIsProven
      ? ""
      : """
      <p class="note">The identity of this app is not proven. Allow it only if you started this sign-in yourself, \
      just now.</p>

      """
    return response(
      status: 200, title: page.isProgramOnDevice ? "Allow a program on this device?" : "Allow \(name)?",
      """
      <h1>Allow \(shown) to use your account?</h1>
      <p class="soft">You continue to the sign-in only if you allow it.</p>
      <dl class="facts">
      <div><dt>App</dt><dd>\(shown)\(tag)\(identity)</dd></div>
      \(host)<div><dt>You return to</dt><dd>\(page.destination.description)</dd></div>
      \(Pages.resourceFact(page.resource))<div><dt>It asks to</dt><dd><ul>
      \(Pages.scopeItems(page.scopes))</ul></dd></div>
      </dl>
      \(warning)<form method="post" action="\(url: page.action)" class="actions">
      <input type="hidden" name="\(ConsentPage.Field.token)" value="\(page.token)">
      <button type="submit" class="second" name="\(ConsentPage.Field.decision)" \
      value="\(ConsentPage.Field.deny)">Don’t allow</button>
      <button type="submit" class="deliberate" name="\(ConsentPage.Field.decision)" \
      value="\(ConsentPage.Field.approve)">Allow</button>
      </form>
      """)
  }

  /// Returns the row with the resource that the app wants to use; empty without one.
  private static func resourceFact(_ resource: ConsentPage.Resource?) -> HTML {
    guard let resource else { return "" }
    guard let name = resource.name else {
      return "<div><dt>It wants to use</dt><dd><code>\(visible: resource.identifier)</code></dd></div>\n"
    }
    return """
      <div><dt>It wants to use</dt><dd><bdi>\(visible: name)</bdi>\
      <code class="id">\(visible: resource.identifier)</code></dd></div>

      """
  }

  static func scopeItems(_ scopes: [String]) -> [HTML] {
    guard !scopes.isEmpty else { return ["<li>use your account, for an unstated purpose</li>\n"] }
    return scopes.map { scope in
      guard let description = description(ofScope: scope) else {
        return "<li>use <code>\(visible: scope)</code></li>\n"
      }
      return "<li>\(description) <code class=\"soft\">\(visible: scope)</code></li>\n"
    }
  }

  /// Returns the description of a scope that OpenID Connect defines (OpenID Connect Core, sections 3.1.2.1, 5.4 and
  /// 11); `nil` for any other scope.
  private static func description(ofScope scope: String) -> HTML? {
    switch scope {
    case "openid": "know who you are"
    case "profile": "see your name and picture"
    case "email": "see your e-mail address"
    case "address": "see your postal address"
    case "phone": "see your phone number"
    case "offline_access": "stay signed in when you are away"
    default: nil
    }
  }
}
