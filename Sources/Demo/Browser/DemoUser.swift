public import LegacyServer

/// A user who signs in with a ``DemoBrowser``.
public struct DemoUser: Sendable {
  /// The user's decision on consent pages.
  public enum Answer: Sendable {
    case allow
    case deny
  }

  /// The user name.
  public var name: String
  /// The password.
  public var password: String
  /// The decision on every consent page.
  public var answer: Answer
  /// The decision on the page that asks to connect a device.
  public var deviceAnswer = Answer.allow

  /// Creates a user, by default the user `alice` of the legacy server.
  public init(name: String = "alice", password: String = "wonderland", answer: Answer = .allow) {
    self.name = name
    self.password = password
    self.answer = answer
  }

  /// Opens an address, fills in the login page and answers consent pages. Returns when the app has received the
  /// response, when a page has no form that the user can submit, when the login fails, or after eight pages.
  ///
  /// - Parameter texts: The texts that the user types into other fields, once, by the names of the fields.
  public func signIn(
    in browser: inout DemoBrowser, from address: WebAddress, typing texts: [String: String] = [:]
  ) async throws -> DemoBrowser.Outcome {
    var outcome = try await browser.open(address)
    var hasSignedIn = false
    var texts = texts
    // A sign-in has at most five pages: the gateway's page for a code, the legacy server's login page and consent page,
    // the gateway's page that asks for consent, and the last page. If the browser has shown eight pages, the pages probably repeat.
    for _ in 0..<8 {
      guard case .page(let page) = outcome, let form = page.forms.first else { return outcome }
      if let password = form.names(of: "password").first {
        // A second login form means that the server refused the password.
        guard !hasSignedIn else { return outcome }
        hasSignedIn = true
        var values = [password: self.password]
        if let name = form.names(of: "text").first ?? form.names(of: "email").first { values[name] = self.name }
        outcome = try await browser.submit(form, on: page, values, button: form.buttons.first)
      } else if form.names(of: "text").contains(where: { texts[$0] != nil }) {
        outcome = try await browser.submit(form, on: page, texts, button: form.buttons.last)
        texts = [:]
      } else if form.buttons.count > 1 {
        let isDevicePage = form.names(of: "hidden").contains("device_token")
        guard let button = button(of: form, for: isDevicePage ? deviceAnswer : answer) else { return outcome }
        outcome = try await browser.submit(form, on: page, button: button)
      } else {
        outcome = try await browser.submit(form, on: page, button: form.buttons.first)
      }
    }
    return outcome
  }

  /// Returns the button that allows or denies access, recognised by its value or label.
  private func button(of form: HTMLForm, for answer: Answer) -> HTMLForm.Control? {
    let labels = answer == .allow ? ["approve", "allow", "yes", "accept"] : ["deny", "no", "cancel", "reject"]
    return form.buttons.first { labels.contains($0.value.lowercased()) }
      ?? form.buttons.first { button in labels.contains { button.label.lowercased().hasPrefix($0) } }
  }
}
