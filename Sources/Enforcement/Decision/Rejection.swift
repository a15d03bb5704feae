public import OAuth

/// A reason for which a request is refused, with the error that the client receives and the text of the section in
/// `docs/rules.md`.
///
/// The rejections of one subject are in one file of `Rejections/`. Each has an explanation as part of its value, and
/// therefore no doc comment.
public final class Rejection: Sendable {
  /// The id of the rule. It appears in logs, metrics, error pages and `docs/rules.md`, and its meaning never changes.
  public let ruleID: String
  /// The error code that a client receives (RFC 6749, sections 4.1.2.1 and 5.2).
  public let errorCode: OAuthErrorCode
  /// The HTTP status of a page or a JSON response. The error redirect to a client has another status.
  public let status: Int
  /// True if the error may be sent to the client's redirect URI, after that URI has been verified (RFC 6749, section
  /// 4.1.2.1). `RejectionResponse.delivery` says whether the error is sent there.
  public let mayRedirect: Bool
  /// The text of `error_description`, in the character set of RFC 6749, section 5.2.
  public let errorDescription: String
  /// The section of the specification that the rule comes from.
  public let reference: String
  /// The refused property, the reason for the rule, and the change that makes the request pass, in Markdown.
  public let explanation: Explanation

  /// The text of the section in `docs/rules.md`.
  public struct Explanation: Sendable {
    /// The property of the request or the response for which it was refused.
    public let refused: String
    /// The reason for the rule.
    public let why: String
    /// The change that the developer or the operator can make.
    public let remedy: String
  }

  /// The two values of ``mayRedirect``, with names for the declarations in `Rejections/`.
  enum Redirection {
    /// The error is sent as an error page or a JSON response.
    case noRedirect
    /// The error is sent by a redirect to the client if its redirect URI has been verified and errors may be redirected
    /// there; otherwise as a page.
    case mayRedirect
  }

  init(
    _ ruleID: String, _ errorCode: OAuthErrorCode, _ status: Int, _ redirection: Redirection,
    _ errorDescription: String, source: String, refused: String, why: String, remedy: String
  ) {
    self.ruleID = ruleID
    self.errorCode = errorCode
    self.status = status
    self.mayRedirect = redirection == .mayRedirect
    self.errorDescription = errorDescription
    self.reference = source
    self.explanation = Explanation(refused: refused, why: why, remedy: remedy)
  }
}

/// Each rejection is one object, so two rejections are equal only if they are the same object.
extension Rejection: Hashable, CustomStringConvertible {
  /// Returns true if both are the same object.
  public static func == (left: Rejection, right: Rejection) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The id of the rule.
  public var description: String { ruleID }
}

extension Rejection {
  /// The rejections of one subject, in the order of `docs/rules.md`.
  public struct Subject: Sendable {
    /// The heading of the subject.
    public let title: String
    /// The rejections.
    public let rejections: [Rejection]

    init(_ title: String, _ rejections: [Rejection]) {
      self.title = title
      self.rejections = rejections
    }
  }

  /// All rejections by subject, in the order of `docs/rules.md`.
  public static let subjects = [
    requests, requestReferences, clients, clientDocuments, redirectURIs, responses, pkce, grants, scopes, resources,
    userInteraction, codes, devices, refreshTokens, registration, signIns, upstreamResponses, gateway,
  ]
}
