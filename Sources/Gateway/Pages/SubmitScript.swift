/// The only script of the gateway's pages. It submits the first form of its page.
enum SubmitScript {
  /// The source of the script. It calls the prototype's `submit`, because a form field with this name would hide the
  /// method of the form.
  static let html: HTML = "HTMLFormElement.prototype.submit.call(document.forms[0])"

  static let element: HTML = "<script>\(html)</script>\n"
}
