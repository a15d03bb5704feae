import HTTP
import JSON
import Policy
import Proxy
import Time

/// Error responses for programs, which cannot show an HTML page.
extension Pages {
  /// Returns the error as a page or as problem details.
  func error(_ page: ErrorPage, as form: ErrorForm) -> Response {
    switch form {
    case .page(let languages): preferring(languages).error(page)
    case .problem: problem(page)
    }
  }

  /// Returns problem details (RFC 9457, section 3). `type` is the URL of the rule's page. The extension members `rule`
  /// and `request` are the ids of the rule and of the request.
  private func problem(_ page: ErrorPage) -> Response {
    var members: [String: JSONValue] = [
      "type": .string(page.rule.map(ruleURL) ?? "about:blank"), "title": .string(ReasonPhrase.of(page.status)),
      "status": .integer(Int64(page.status)),
      "detail": .string(page.detail ?? PageCatalogue.english.text(ErrorTexts(page).happened)),
    ]
    if let rule = page.rule { members["rule"] = .string(rule) }
    if let section = page.section { members["reference"] = .string(section) }
    if let requestID { members["request"] = .string(requestID) }
    if let transaction = page.transaction { members["transaction"] = .string(transaction) }
    var response = Response(
      status: page.status,
      headers: [
        "Content-Type": "application/problem+json", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
      ],
      body: JSONValue.text(of: members))
    if let wait = page.retryAfter { response.headers.set("Retry-After", String(wait.count)) }
    return response
  }
}
