/// A person at the browser: signs in where a password is asked for, and answers where consent is.
public struct DemoUser: Sendable {
  public enum Answer: Sendable {
    case allow
    case deny
  }

  public var name: String
  public var password: String
  public var answer: Answer

  public init(name: String = "alice", password: String = "wonderland", answer: Answer = .allow) {
    self.name = name
    self.password = password
    self.answer = answer
  }

  /// Opens an address and goes on until the app has its answer, or until a page offers nothing more to do.
  public func walk(_ browser: inout DemoBrowser, from address: WebAddress) async throws -> DemoBrowser.Stop {
    var stop = try await browser.open(address)
    var hasSignedIn = false
    // Login, consent of the gateway and of the legacy server, a form_post page; more is a circle.
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
