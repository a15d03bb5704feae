/// The user of the browser, who signs in on login pages and decides on consent pages.
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

  /// Creates a user, by default one whom the legacy server knows.
  public init(name: String = "alice", password: String = "wonderland", answer: Answer = .allow) {
    self.name = name
    self.password = password
    self.answer = answer
  }

  /// Opens an address and continues until the app has its response, or until a page has no usable form.
  public func walk(_ browser: inout DemoBrowser, from address: WebAddress) async throws -> DemoBrowser.Stop {
    var stop = try await browser.open(address)
    var hasSignedIn = false
    // Login, consent of the gateway and of the legacy server, and a form_post page; more pages are a loop.
    for _ in 0..<8 {
      guard case .page(let page) = stop, let form = page.forms.first else { return stop }
      if let password = form.names(of: "password").first {
        // A second login form means that the first attempt was refused.
        guard !hasSignedIn else { return stop }
        hasSignedIn = true
        var values = [password: self.password]
        if let name = form.names(of: "text").first ?? form.names(of: "email").first { values[name] = self.name }
        stop = try await browser.submit(form, on: page, values, button: form.buttons.first)
      } else if form.buttons.count > 1 {
        guard let button = button(of: form) else { return stop }
        stop = try await browser.submit(form, on: page, button: button)
      } else {
        stop = try await browser.submit(form, on: page, button: form.buttons.first)
      }
    }
    return stop
  }

  private func button(of form: HTMLForm) -> HTMLForm.Control? {
    let wanted = answer == .allow ? ["approve", "allow", "yes", "accept"] : ["deny", "no", "cancel", "reject"]
    return form.buttons.first { wanted.contains($0.value.lowercased()) }
      ?? form.buttons.first { button in wanted.contains { button.label.lowercased().hasPrefix($0) } }
  }
}
