import HTTP

/// A request to the legacy server, with the decoded parameters of its query and body.
struct LegacyRequest {
  let http: Request
  let query: Form
  /// The parameters of the body; none if the body is not a form.
  let body: Form

  init(_ request: Request) {
    http = request
    query = Form(decoding: request.query ?? "")
    let type = request.headers["Content-Type"]?.prefix { $0 != ";" } ?? ""
    let isForm = type.lowercased() == "application/x-www-form-urlencoded"
    body = isForm ? Form(decoding: String(decoding: request.body, as: UTF8.self)) : Form()
  }

  /// Returns the value of the first cookie with this name.
  func cookie(_ name: String) -> String? {
    for field in http.headers.all("Cookie") {
      for pair in field.split(separator: ";") {
        let trimmed = pair.drop { $0 == " " }
        if trimmed.hasPrefix(name + "=") { return String(trimmed.dropFirst(name.utf8.count + 1)) }
      }
    }
    return nil
  }
}
