public import Time

/// The content of an error page: the status and, for the developer of the app, the rule and the reason.
public struct ErrorPage: Sendable {
  /// The HTTP status, 400 to 599.
  public var status: Int
  /// The stable id of the rule that refused the request, e.g. `redirect-uri-mismatch`. It is an anchor in
  /// `docs/rules.md`. `nil` if no rule refused it.
  public var rule: String?
  /// The source of the rule, e.g. `RFC 6749, section 3.1.2.4`.
  public var section: String?
  /// One line for the developer. It may contain text from the request, which the page escapes and never makes a link.
  public var detail: String?
  /// The transaction id, as in the decision log.
  public var transaction: String?
  /// The value of `Retry-After`: the time after which a new attempt makes sense (RFC 9110, section 10.2.3).
  public var retryAfter: Seconds?

  /// Creates the content of a page.
  public init(
    status: Int, rule: String? = nil, section: String? = nil, detail: String? = nil, transaction: String? = nil,
    retryAfter: Seconds? = nil
  ) {
    self.status = status
    self.rule = rule
    self.section = section
    self.detail = detail
    self.transaction = transaction
    self.retryAfter = retryAfter
  }
}
