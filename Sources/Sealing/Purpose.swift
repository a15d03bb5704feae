/// The purpose of a sealed value. A value that was sealed for one purpose cannot be opened (verified and decrypted) for
/// another; the attempt fails in the same way as for a forged value.
///
/// The raw values and the texts of `info` must never change, because clients keep sealed values for months.
public enum Purpose: UInt8, Sendable, CaseIterable {
  /// An authorization transaction, sent through the upstream as `state`.
  case state = 1
  /// An authorization code that the gateway issues.
  case code = 2
  /// A refresh token of a public client.
  case refresh = 3
  /// A `client_id` of dynamic client registration.
  case registration = 4
  /// The values of a device flow (RFC 8628): the device code, the record in the store, and the tokens of its forms.
  case device = 5
  /// The authorization request in a hidden field of the consent form. The seal also proves that the gateway sent the
  /// form.
  case consent = 6
  /// The value of a cookie.
  case cookie = 7
  /// Tokens that the store keeps, so that the gateway can revoke them or repeat the response to a refresh.
  case storedTokens = 8
  /// A pushed authorization request in the store.
  case pushed = 9
  /// The authorization request in a link with which the user can start the sign-in again, for example in another
  /// browser.
  case start = 10
  /// The record of an access token in the store.
  case accessToken = 14

  /// The first part of the HKDF parameter `info` (RFC 5869, section 3.2) with which `Sealer` derives a message key, the
  /// key of one value.
  var info: [UInt8] {
    switch self {
    case .state: Info.state
    case .code: Info.code
    case .refresh: Info.refresh
    case .registration: Info.registration
    case .device: Info.device
    case .consent: Info.consent
    case .cookie: Info.cookie
    case .storedTokens: Info.storedTokens
    case .pushed: Info.pushed
    case .start: Info.start
    case .accessToken: Info.accessToken
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
    static let storedTokens = Array("proofgate kept".utf8)
    static let pushed = Array("proofgate pushed".utf8)
    static let start = Array("proofgate start".utf8)
    static let accessToken = Array("proofgate access token".utf8)
  }
}
