/// The only script of the gateway's pages: it submits the only form of its page.
enum SubmitScript {
  /// Calls the prototype's method, because a field named `submit` would hide the form's own.
  static let html: HTML = "HTMLFormElement.prototype.submit.call(document.forms[0])"

  static let element: HTML = "<script>\(html)</script>\n"
}
