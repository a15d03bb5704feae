/// The only script of the gateway's pages. It submits the first form of its page.
enum SubmitScript {
  /// The source. It calls the method of the prototype, because a form field named `submit` would hide that of the form.
  static let html: HTML = "HTMLFormElement.prototype.submit.call(document.forms[0])"

  static let element: HTML = "<script>\(html)</script>\n"
}
