import HTTP

/// A request with its parameters decoded.
struct LegacyRequest {
  let request: Request
  let query: Form
  let body: Form

  init(_ request: Request) {
    self.request = request
    query = Form(decoding: request.query ?? "")
    let type = request.headers["Content-Type"]?.prefix { $0 != ";" } ?? ""
    let isForm = type.lowercased() == "application/x-www-form-urlencoded"
    body = isForm ? Form(decoding: String(decoding: request.body, as: UTF8.self)) : Form()
  }

  func cookie(_ name: String) -> String? {
    for field in request.headers.all("Cookie") {
      for pair in field.split(separator: ";") {
        let trimmed = pair.drop { $0 == " " }
        if trimmed.hasPrefix(name + "=") { return String(trimmed.dropFirst(name.utf8.count + 1)) }
      }
    }
    return nil
  }
}
