/// The content of an error page besides its status: the rule and the reason, for the developer of the app.
public struct ErrorPage: Sendable {
  /// The HTTP status, 400 to 599.
  public var status: Int
  /// The stable id of the rule that refused, e.g. `redirect-uri-mismatch`: the anchor in `docs/rules.md`.
  public var rule: String?
  /// The source of the rule, e.g. `RFC 6749, section 3.1.2.4`.
  public var section: String?
  /// One line for the developer. It may contain text from the request, which is escaped and never becomes a link.
  public var detail: String?
  /// The transaction id, as in the decision log.
  public var transaction: String?
  /// The number of seconds after which a new attempt makes sense, also sent as `Retry-After` (RFC 9110, section
  /// 10.2.3).
  public var retryAfter: Int?

  /// Creates the content of a page.
  public init(
    status: Int, rule: String? = nil, section: String? = nil, detail: String? = nil, transaction: String? = nil,
    retryAfter: Int? = nil
  ) {
    self.status = status
    self.rule = rule
    self.section = section
    self.detail = detail
    self.transaction = transaction
    self.retryAfter = retryAfter
  }
}
