/// A form as it stands on a page.
public struct HTMLForm: Sendable, Equatable {
  public struct Control: Sendable, Equatable {
    /// `text`, `password`, `hidden`, `submit`, ...
    public var kind: String
    public var name: String?
    public var value: String
    /// What stands on a button.
    public var label: String
  }

  /// Empty when the form posts to the page's own address.
  public var action: String
  /// `GET` or `POST`.
  public var method: String
  public var controls: [Control]

  /// The names of what a user fills in.
  public func names(of kind: String) -> [String] {
    controls.filter { $0.kind == kind }.compactMap(\.name)
  }

  public var buttons: [Control] {
    controls.filter { $0.kind == "submit" }
  }

  /// What is sent when `button` is pressed, with `values` filled in.
  public func submission(_ values: [String: String] = [:], button: Control? = nil) -> Form {
    var form = Form()
    for control in controls where control.kind != "submit" {
      guard let name = control.name else { continue }
      form.append(name, values[name] ?? control.value)
    }
    if let button, let name = button.name { form.append(name, button.value) }
    return form
  }
}

extension HTMLForm {
  /// The forms of a page. Enough of HTML for pages of servers: tags with quoted or bare attributes, no scripts.
  public static func forms(in html: String) -> [HTMLForm] {
    var scanner = HTMLScanner(html)
    var forms: [HTMLForm] = []
    var open: HTMLForm?
    var button: Control?
    while let token = scanner.next() {
      switch token {
      case .text(let text):
        button?.label += text
      case .start("form", let attributes):
        open = HTMLForm(
          action: attributes["action"] ?? "", method: (attributes["method"] ?? "get").uppercased(), controls: [])
      case .start("input", let attributes):
        let kind = attributes["type"]?.lowercased() ?? "text"
        let value = attributes["value"] ?? ""
        open?.controls.append(
          Control(kind: kind, name: attributes["name"], value: value, label: kind == "submit" ? value : ""))
      case .start("button", let attributes):
        button = Control(
          kind: attributes["type"]?.lowercased() ?? "submit", name: attributes["name"],
          value: attributes["value"] ?? "", label: "")
      case .end("button"):
        if let button { open?.controls.append(button) }
        button = nil
      case .end("form"):
        if let open { forms.append(open) }
        open = nil
      case .start, .end: break
      }
    }
    return forms
  }

  /// What a page says in words, without its tags, style and script.
  public static func text(of html: String) -> String {
    var scanner = HTMLScanner(html)
    var result = ""
    while let token = scanner.next() {
      if case .text(let text) = token { result += text + " " }
    }
    return result.split { $0 == " " || $0 == "\n" || $0 == "\t" }.joined(separator: " ")
  }
}
