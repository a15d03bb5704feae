public import OAuth

extension IssuedCode: Sealable {
  /// The first byte after the layout number; each bit describes one optional or repeated field.
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let redirectURIWasSent = Flags(rawValue: 1)
    static let hasScope = Flags(rawValue: 2)
    static let sameClientID = Flags(rawValue: 4)
    static let sameRedirectURI = Flags(rawValue: 8)
    static let hasVerifier = Flags(rawValue: 16)
    static let all: Flags = [redirectURIWasSent, hasScope, sameClientID, sameRedirectURI, hasVerifier]
  }

  /// `.code`: the value is an authorization code.
  public static var purpose: Purpose { .code }

  /// Appends layout 1. Fields that repeat another field or are absent are left out.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if redirectURIWasSent { flags.insert(.redirectURIWasSent) }
    if scope != nil { flags.insert(.hasScope) }
    if upstreamClientID == clientID { flags.insert(.sameClientID) }
    if upstreamRedirectURI == redirectURI.text { flags.insert(.sameRedirectURI) }
    if upstreamVerifier != nil { flags.insert(.hasVerifier) }
    payload.byte(1)
    payload.byte(flags.rawValue)
    payload.fixed(transactionID.bytes)
    payload.seconds(expiry)
    payload.challenge(challenge)
    payload.text(clientID.rawValue)
    payload.text(redirectURI.text)
    payload.text(upstreamCode.reveal())
    if let scope { payload.text(scope.text) }
    if !flags.contains(.sameClientID) { payload.text(upstreamClientID.rawValue) }
    if !flags.contains(.sameRedirectURI) { payload.text(upstreamRedirectURI) }
    if let upstreamVerifier { payload.fixed(upstreamVerifier.bytes) }
  }

  /// Reads layout 1. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.layout(1)
    let flags = try payload.flags(Flags.all)
    let transactionID = try payload.transactionID()
    let expiry = try payload.seconds()
    let challenge = try payload.challenge()
    let clientID = ClientID(try payload.text())
    let redirectURI = try payload.redirectURI()
    let upstreamCode = Secret(try payload.text())
    let scope = flags.contains(.hasScope) ? try payload.scope() : nil
    let upstreamClientID = flags.contains(.sameClientID) ? clientID : ClientID(try payload.text())
    let upstreamRedirectURI = flags.contains(.sameRedirectURI) ? redirectURI.text : try payload.text()
    let upstreamVerifier = flags.contains(.hasVerifier) ? try payload.upstreamVerifier() : nil
    self.init(
      transactionID: transactionID, clientID: clientID, redirectURI: redirectURI,
      redirectURIWasSent: flags.contains(.redirectURIWasSent), challenge: challenge, scope: scope,
      upstreamCode: upstreamCode, upstreamClientID: upstreamClientID, upstreamRedirectURI: upstreamRedirectURI,
      upstreamVerifier: upstreamVerifier, expiry: expiry)
  }
}
