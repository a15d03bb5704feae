/// The purpose of a sealed value. A value that was sealed for one purpose does not open for another; it is treated as
/// forged.
/// The numbers are part of sealed values that clients keep for months, so they must never change.
public enum Purpose: UInt8, Sendable, CaseIterable {
  /// An authorization transaction, sent through the upstream as `state`.
  case state = 1
  /// An authorization code.
  case code = 2
  /// A refresh token of a public client.
  case refresh = 3
  /// A `client_id` of dynamic client registration.
  case registration = 4
  /// The values of a device flow.
  case device = 5
  /// Tokens in the gateway's own forms, for consent and against forged posts.
  case consent = 6
  /// The value of a cookie.
  case cookie = 7
  /// Tokens in the store, kept to revoke them or to repeat an answer.
  case kept = 8
  /// A pushed authorization request in the store.
  case pushed = 9
  /// An authorization request that the user may start again in another browser.
  case start = 10

  /// The start of the input from which the message key is derived (`info` in RFC 5869, section 3.2).
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
