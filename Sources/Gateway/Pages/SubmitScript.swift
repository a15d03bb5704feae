import Markup

/// The only script of the gateway's pages. It submits the first form of its page.
enum SubmitScript {
  /// The source of the script. It calls `submit` of the prototype, because a form field with the name `submit` would
  /// hide the method of the form object.
  static let source: HTML = "HTMLFormElement.prototype.submit.call(document.forms[0])"

  /// The `script` element for a page.
  static let element: HTML = "<script>\(source)</script>\n"
}
