/// The one script of the gateway's pages: it sends the only form of its page.
enum SubmitScript {
  /// A field named `submit` would hide the method of the form, hence the prototype's.
  static let html: HTML = "HTMLFormElement.prototype.submit.call(document.forms[0])"

  static let element: HTML = "<script>\(html)</script>\n"
}
