public import LegacyServer

/// A form on a page.
public struct HTMLForm: Sendable, Equatable {
  /// An input or button of a form.
  public struct Control: Sendable, Equatable {
    /// The `type` attribute in lower case: `text`, `password`, `hidden`, `submit`, ...
    public var kind: String
    /// The name under which the value is sent; `nil` if it is not sent.
    public var name: String?
    /// The value that is sent unless the user changes it.
    public var value: String
    /// The text on a button; empty for other controls.
    public var label: String
  }

  /// The URL to which the form is sent; empty for the URL of the page.
  public var action: String
  /// The method, `GET` or `POST`.
  public var method: String
  /// The inputs and buttons, in order.
  public var controls: [Control]

  /// Returns the names of the controls of a type, for example `password`.
  public func names(of kind: String) -> [String] {
    controls.filter { $0.kind == kind }.compactMap(\.name)
  }

  /// The submit buttons.
  public var buttons: [Control] {
    controls.filter { $0.kind == "submit" }
  }

  /// Returns the parameters that a browser sends if the user presses `button`.
  ///
  /// - Parameter values: The values that the user enters, by the names of the controls.
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
  /// Returns the forms of a page. Attributes may be quoted or unquoted. Scripts are ignored.
  public static func forms(in html: String) -> [HTMLForm] {
    var scanner = HTMLScanner(html)
    var forms: [HTMLForm] = []
    var openForm: HTMLForm?
    var openButton: Control?
    while let token = scanner.next() {
      switch token {
      case .text(let text):
        openButton?.label += text
      case .start("form", let attributes):
        openForm = HTMLForm(
          action: attributes["action"] ?? "", method: (attributes["method"] ?? "get").uppercased(), controls: [])
      case .start("input", let attributes):
        let kind = attributes["type"]?.lowercased() ?? "text"
        let value = attributes["value"] ?? ""
        openForm?.controls.append(
          Control(kind: kind, name: attributes["name"], value: value, label: kind == "submit" ? value : ""))
      case .start("button", let attributes):
        openButton = Control(
          kind: attributes["type"]?.lowercased() ?? "submit", name: attributes["name"],
          value: attributes["value"] ?? "", label: "")
      case .end("button"):
        if let openButton { openForm?.controls.append(openButton) }
        openButton = nil
      case .end("form"):
        if let openForm { forms.append(openForm) }
        openForm = nil
      case .start, .end: break
      }
    }
    return forms
  }

  /// Returns the text of a page, without tags, style sheets and scripts.
  public static func text(of html: String) -> String {
    var scanner = HTMLScanner(html)
    var result = ""
    while let token = scanner.next() {
      if case .text(let text) = token { result += text + " " }
    }
    return result.split { $0 == " " || $0 == "\n" || $0 == "\t" }.joined(separator: " ")
  }
}
