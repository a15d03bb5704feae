import Enforcement
import OAuth
public import Time

/// The content of an error page: the status, and details for the developer of the app.
public struct ErrorPage: Sendable {
  /// The HTTP status, 400 to 599.
  public var status: Int
  /// The id of the rule that refused the request, e.g. `redirect-uri-mismatch`. The page links to the page of the rule.
  /// `nil` if no rule refused the request.
  public var rule: String?
  /// The source of the rule, e.g. `RFC 6749, section 3.1.2.4`.
  public var section: String?
  /// The reason, in one line. It may contain text from the request, which the page escapes and never shows as a link.
  public var detail: String?
  /// The id of the transaction in the decision log.
  public var transaction: String?
  /// The time after which the user can try again, for `Retry-After` (RFC 9110, section 10.2.3).
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

extension ErrorPage {
  /// The value of `Retry-After` if the upstream or the store is unavailable or the gateway has reached a limit.
  static let retryDelay: Seconds = 5

  /// Creates the page for a rejection.
  init(_ rejection: Rejection, detail: String? = nil, transaction: TransactionID? = nil) {
    self.init(
      status: rejection.status, rule: rejection.ruleID, section: rejection.reference,
      detail: detail ?? rejection.errorDescription, transaction: transaction?.description,
      retryAfter: rejection.status == 503 ? ErrorPage.retryDelay : nil)
  }
}
