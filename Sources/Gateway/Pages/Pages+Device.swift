import Enforcement
import HTTP
import OAuth

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
      "<p class=\"note\" role=\"alert\">This code is wrong or has expired. Check the code on your device.</p>\n"
    }
    let comparison: HTML? = code.map {
      """
      <dl class="facts"><div><dt>The link that you followed is for the code</dt><dd><code>\($0.text)</code></dd></div></dl>
      <p>Compare it with your device. Type it only if your device, in front of you, shows the same code.</p>

      """
    }
    let deny: HTML? = code.map { _ in
      """
      <button type="submit" class="second" name="\(DevicePage.Field.decision)" value="\(DevicePage.Field.deny)">\
      Don’t connect</button>

      """
    }
    var page = response(
      status: rejection?.status ?? 200, title: "Connect a device",
      """
      <h1>Connect a device</h1>
      <p>Type the code that your device shows. Then you sign in.</p>
      <p class="soft">Only continue if you started this on a device in front of you. No other person should give you a code.</p>
      \(problem)\(comparison)<form method="post" action="\(url: action)">
      <input type="hidden" name="\(DevicePage.Field.token)" value="\(token)">
      <p><label for="code">Code</label></p>
      <p><input id="code" type="text" name="\(DevicePage.Field.userCode)" autocomplete="off" autocapitalize="characters" \
      spellcheck="false" maxlength="20" required autofocus class="copy"></p>
      <div class="actions">
      \(deny)<button type="submit" name="\(DevicePage.Field.decision)" value="\(DevicePage.Field.proceed)">Continue</button>
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
      status: 200, title: "Connect \(page.clientName)?",
      """
      <h1>Connect <bdi>\(visible: page.clientName)</bdi> to your account?</h1>
      <p>You are about to sign in on a device. Only continue if you started this on a device in front of you, and if \
      the device shows this code.</p>
      <dl class="facts">
      <div><dt>App on the device</dt><dd><bdi>\(visible: page.clientName)</bdi>\
      <code class="id">\(visible: page.clientID)</code></dd></div>
      <div><dt>Code on the device</dt><dd><code>\(page.userCode.text)</code></dd></div>
      <div><dt>Started</dt><dd>\(page.approximateAge), from the network <code>\(visible: page.network)</code></dd></div>
      <div><dt>It asks to</dt><dd><ul>
      \(Pages.scopeItems(page.scopes))</ul></dd></div>
      </dl>
      <p class="note">If another person sent you a link or a code, do not allow it. The device would act as you.</p>
      <form method="post" action="\(url: page.action)" class="actions">
      <input type="hidden" name="\(DevicePage.Field.token)" value="\(page.token)">
      <button type="submit" class="second" name="\(DevicePage.Field.decision)" \
      value="\(DevicePage.Field.deny)">Don’t allow</button>
      <button type="submit" class="deliberate" name="\(DevicePage.Field.decision)" \
      value="\(DevicePage.Field.approve)">Allow</button>
      </form>
      """)
    response.headers.set("Referrer-Policy", "same-origin")
    return response
  }

  /// Returns the page after the user's decision.
  func deviceDecided(isApproved: Bool, clientName: String) -> Response {
    let title = isApproved ? "Return to your device" : "Not connected"
    let text: HTML =
      isApproved
      ? "<p><bdi>\(visible: clientName)</bdi> is connected in a moment. Return to your device; you can close this page.</p>"
      : "<p><bdi>\(visible: clientName)</bdi> got no access. Return to your device; you can close this page.</p>"
    return response(status: 200, title: title, "<h1>\(title)</h1>\n\(text)")
  }

  /// Returns the page for a device request that cannot continue.
  func deviceProblem(_ page: ErrorPage) -> Response {
    guard (400..<429).contains(page.status) else { return error(page) }
    let happened: HTML =
      page.status == 409
      ? "Another browser has entered this code. Continue there, or start again on your device."
      : "This request cannot continue. It may have been decided already, or it took too long."
    return response(
      status: page.status, title: "The device was not connected",
      """
      <h1>The device was not connected</h1>
      <p>\(happened)</p>
      <p>To try again, start again on your device and type the new code.</p>
      \(developerSection(page))
      """)
  }
}
