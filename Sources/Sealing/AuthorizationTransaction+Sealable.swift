public import OAuth

extension AuthorizationTransaction: Sealable {
  /// The first byte after the layout number; each bit describes one optional or repeated field.
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let redirectURIWasSent = Flags(rawValue: 1)
    static let hasState = Flags(rawValue: 2)
    static let hasScope = Flags(rawValue: 4)
    static let sameClientID = Flags(rawValue: 8)
    static let sameRedirectURI = Flags(rawValue: 16)
    static let hasVerifier = Flags(rawValue: 32)
    static let all: Flags = [
      redirectURIWasSent, hasState, hasScope, sameClientID, sameRedirectURI, hasVerifier,
    ]
  }

  /// `.state`: a transaction travels as the `state` parameter.
  public static var purpose: Purpose { .state }

  /// Appends layout 1. Fields that repeat another field or are absent are left out.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if redirectURIWasSent { flags.insert(.redirectURIWasSent) }
    if state != nil { flags.insert(.hasState) }
    if scope != nil { flags.insert(.hasScope) }
    if upstreamClientID == clientID { flags.insert(.sameClientID) }
    if upstreamRedirectURI == redirectURI.text { flags.insert(.sameRedirectURI) }
    if upstreamVerifier != nil { flags.insert(.hasVerifier) }
    payload.byte(1)
    payload.byte(flags.rawValue)
    payload.fixed(id.bytes)
    payload.seconds(expiry)
    payload.responseMode(responseMode)
    payload.challenge(challenge)
    payload.data(browserSecretHash)
    payload.text(clientID.rawValue)
    payload.text(redirectURI.text)
    if let state { payload.text(state) }
    if let scope { payload.text(scope.text) }
    if !flags.contains(.sameClientID) { payload.text(upstreamClientID.rawValue) }
    if !flags.contains(.sameRedirectURI) { payload.text(upstreamRedirectURI) }
    if let upstreamVerifier { payload.fixed(upstreamVerifier.bytes) }
  }

  /// Reads layout 1. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.layout(1)
    let flags = try payload.flags(Flags.all)
    let id = try payload.transactionID()
    let expiry = try payload.seconds()
    let responseMode = try payload.responseMode()
    let challenge = try payload.challenge()
    let browserSecretHash = try payload.data()
    let clientID = ClientID(try payload.text())
    let redirectURI = try payload.redirectURI()
    let state = flags.contains(.hasState) ? try payload.text() : nil
    let scope = flags.contains(.hasScope) ? try payload.scope() : nil
    let upstreamClientID = flags.contains(.sameClientID) ? clientID : ClientID(try payload.text())
    let upstreamRedirectURI = flags.contains(.sameRedirectURI) ? redirectURI.text : try payload.text()
    let upstreamVerifier = flags.contains(.hasVerifier) ? try payload.upstreamVerifier() : nil
    self.init(
      id: id, clientID: clientID, redirectURI: redirectURI,
      redirectURIWasSent: flags.contains(.redirectURIWasSent), state: state, challenge: challenge,
      responseMode: responseMode, scope: scope, upstreamClientID: upstreamClientID,
      upstreamRedirectURI: upstreamRedirectURI, upstreamVerifier: upstreamVerifier, expiry: expiry,
      browserSecretHash: browserSecretHash)
  }
}
