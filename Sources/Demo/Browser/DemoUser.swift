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

  /// Creates a user, by default the user `alice` of the legacy server.
  public init(name: String = "alice", password: String = "wonderland", answer: Answer = .allow) {
    self.name = name
    self.password = password
    self.answer = answer
  }

  /// Opens an address, fills in the login page and answers consent pages. Returns when the app has received the
  /// response, when a page has no form that the user can submit, when the login fails, or after eight pages.
  public func signIn(in browser: inout DemoBrowser, from address: WebAddress) async throws -> DemoBrowser.Outcome {
    var outcome = try await browser.open(address)
    var hasSignedIn = false
    // A sign-in has at most four pages: the gateway's consent page, the legacy server's login page and consent page,
    // and a form_post page. If the browser has shown eight pages, the pages probably repeat.
    for _ in 0..<8 {
      guard case .page(let page) = outcome, let form = page.forms.first else { return outcome }
      if let password = form.names(of: "password").first {
        // A second login form means that the server refused the password.
        guard !hasSignedIn else { return outcome }
        hasSignedIn = true
        var values = [password: self.password]
        if let name = form.names(of: "text").first ?? form.names(of: "email").first { values[name] = self.name }
        outcome = try await browser.submit(form, on: page, values, button: form.buttons.first)
      } else if form.buttons.count > 1 {
        guard let button = button(of: form) else { return outcome }
        outcome = try await browser.submit(form, on: page, button: button)
      } else {
        outcome = try await browser.submit(form, on: page, button: form.buttons.first)
      }
    }
    return outcome
  }

  /// Returns the button that allows or denies access, recognised by its value or label.
  private func button(of form: HTMLForm) -> HTMLForm.Control? {
    let labels = answer == .allow ? ["approve", "allow", "yes", "accept"] : ["deny", "no", "cancel", "reject"]
    return form.buttons.first { labels.contains($0.value.lowercased()) }
      ?? form.buttons.first { button in labels.contains { button.label.lowercased().hasPrefix($0) } }
  }
}
