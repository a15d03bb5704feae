/// The purpose of a sealed value. A value sealed for one purpose does not open for another: it looks forged.
///
/// The numbers stand inside sealed values that are kept for months, so they never change.
public enum Purpose: UInt8, Sendable, CaseIterable {
  /// An authorization transaction on its way through the upstream.
  case state = 1
  /// An authorization code.
  case code = 2
  /// A refresh token of a public client.
  case refresh = 3
  /// A `client_id` of dynamic registration.
  case registration = 4
  /// A device flow's values.
  case device = 5
  /// Tokens of the gateway's own forms: consent, and protection against forged posts.
  case consent = 6
  /// The value of a cookie.
  case cookie = 7
  /// Tokens that the store keeps, to revoke them or to give an answer again.
  case kept = 8
  /// A pushed authorization request that the store keeps.
  case pushed = 9
  /// An authorization request that the user may start again in another browser.
  case start = 10

  /// The input from which the message key is derived (RFC 5869, section 3.2: `info`).
  var info: [UInt8] {
    switch self {
    case .state: Info.state
    case .code: Info.code
    case .refresh: Info.refresh
    case .registration: Info.registration
    case .device: Info.device
    case .consent: Info.consent
    case .cookie: Info.cookie
    case .kept: Info.kept
    case .pushed: Info.pushed
    case .start: Info.start
    }
  }

  private enum Info {
    static let state = Array("proofgate state".utf8)
    static let code = Array("proofgate code".utf8)
    static let refresh = Array("proofgate refresh".utf8)
    static let registration = Array("proofgate registration".utf8)
    static let device = Array("proofgate device".utf8)
    static let consent = Array("proofgate consent".utf8)
    static let cookie = Array("proofgate cookie".utf8)
    static let kept = Array("proofgate kept".utf8)
    static let pushed = Array("proofgate pushed".utf8)
    static let start = Array("proofgate start".utf8)
  }
}
