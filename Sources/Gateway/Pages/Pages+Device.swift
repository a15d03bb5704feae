import Enforcement
import HTTP
import Markup
import OAuth
import Policy

/// The pages of the device grant (RFC 8628, sections 3.3 and 5.4).
///
/// They have `Referrer-Policy: same-origin`, so that browsers send the real `Origin` with their forms.
extension Pages {
  /// Returns the page on which the user types the code of a device.
  ///
  /// - Parameters:
  ///   - action: The path on this origin to which the form posts.
  ///   - token: The value of the hidden field.
  ///   - code: The code in the address of the page; `nil` if there is none. The user compares it with the device and
  ///     types it again.
  ///   - rejection: The reason why the last code was refused; `nil` for the first page.
  func deviceEntry(action: String, token: String, codeToCompare code: UserCode?, rejection: Rejection?) -> Response {
    let problem: HTML? = rejection.map { _ in
      "<p class=\"note\" role=\"alert\">\(text(.deviceWrongCode))</p>\n"
    }
    let comparison: HTML? = code.map {
      """
      <dl class="facts"><div><dt>\(text(.deviceCodeOfLink))</dt><dd><code>\($0.text)</code></dd></div></dl>
      <p>\(text(.deviceCompare))</p>

      """
    }
    let deny: HTML? = code.map { _ in
      """
      <button type="submit" class="second" name="\(DevicePage.Field.decision)" value="\(DevicePage.Field.deny)">\
      \(text(.deviceDeny))</button>

      """
    }
    // The Enter key presses the first button of a form, which must not be the one that denies.
    let first: HTML? = code.map { _ in
      """
      <button type="submit" class="unseen" tabindex="-1" aria-hidden="true" name="\(DevicePage.Field.decision)" \
      value="\(DevicePage.Field.proceed)"></button>

      """
    }
    var page = response(
      status: rejection?.status ?? 200, title: title(.deviceTitle),
      """
      <h1>\(text(.deviceTitle))</h1>
      <p>\(text(.deviceText))</p>
      <p class="soft">\(text(.deviceCaution))</p>
      \(problem)\(comparison)<form method="post" action="\(url: action)">
      \(first)\
      <input type="hidden" name="\(DevicePage.Field.token)" value="\(token)">
      <p><label for="code">\(text(.deviceCode))</label></p>
      <p><input id="code" type="text" name="\(DevicePage.Field.userCode)" autocomplete="off" autocapitalize="characters" \
      spellcheck="false" maxlength="20" required autofocus class="copy"></p>
      <div class="actions">
      \(deny)<button type="submit" name="\(DevicePage.Field.decision)" value="\(DevicePage.Field.proceed)">\(text(.deviceContinue))</button>
      </div>
      </form>
      """)
    page.headers.set("Referrer-Policy", "same-origin")
    return page
  }

  /// Returns the page on which the user confirms the device after the sign-in. The Allow button ignores clicks in the
  /// first second, as on the consent page.
  func deviceConfirmation(_ page: DevicePage) -> Response {
    var response = response(
      status: 200, title: title(.deviceConfirmTitle, ["app": page.clientName]),
      """
      <h1>\(text(.deviceConfirmHeading, ["app": "<bdi>\(visible: page.clientName)</bdi>"]))</h1>
      <p>\(text(.deviceConfirmText))</p>
      <dl class="facts">
      <div><dt>\(text(.deviceConfirmApp))</dt><dd><bdi>\(visible: page.clientName)</bdi>\
      <code class="id">\(visible: page.clientID)</code></dd></div>
      <div><dt>\(text(.deviceConfirmCode))</dt><dd><code>\(page.userCode.text)</code></dd></div>
      <div><dt>\(text(.deviceStarted))</dt><dd>\(page.start(on: self))</dd></div>
      \(resourceFact(page.resource))<div><dt>\(text(.consentScopes))</dt><dd><ul>
      \(scopeItems(page.scopes))</ul></dd></div>
      </dl>
      <p class="note">\(text(.deviceWarning))</p>
      <form method="post" action="\(url: page.action)" class="actions">
      <input type="hidden" name="\(DevicePage.Field.token)" value="\(page.token)">
      <button type="submit" class="second" name="\(DevicePage.Field.decision)" \
      value="\(DevicePage.Field.deny)">\(text(.consentDeny))</button>
      <button type="submit" class="deliberate" name="\(DevicePage.Field.decision)" \
      value="\(DevicePage.Field.approve)">\(text(.consentAllow))</button>
      </form>
      """)
    response.headers.set("Referrer-Policy", "same-origin")
    return response
  }

  /// Returns the page after the user's decision.
  func deviceDecided(isApproved: Bool, clientName: String) -> Response {
    let heading: PageText = isApproved ? .deviceApprovedTitle : .deviceDeniedTitle
    let result = text(
      isApproved ? .deviceApproved : .deviceDenied, ["app": "<bdi>\(visible: clientName)</bdi>"])
    return response(status: 200, title: title(heading), "<h1>\(text(heading))</h1>\n<p>\(result)</p>")
  }

  /// Returns the page for a device request that cannot continue.
  ///
  /// - Parameter outcome: The present state of the request, as far as the gateway knows it.
  func deviceProblem(_ page: ErrorPage, _ outcome: DevicePage.Outcome = .notConnected) -> Response {
    guard (400..<429).contains(page.status) else { return error(page) }
    let (heading, happened, advice): (PageText, PageText, PageText) =
      switch outcome {
      case .approved: (.deviceApprovedBeforeTitle, .deviceApprovedBefore, .deviceApprovedBeforeAdvice)
      case .notConnected:
        (
          .deviceProblemTitle, page.status == 409 ? .deviceProblemOtherBrowser : .deviceProblemEnded,
          .deviceProblemAdvice
        )
      case .unknown: (.deviceProblemUnknownTitle, .deviceProblemEnded, .deviceProblemAdvice)
      }
    return response(
      status: page.status, title: title(heading),
      """
      <h1>\(text(heading))</h1>
      <p>\(text(happened))</p>
      <p>\(text(advice))</p>
      \(developerSection(page))
      """)
  }
}
