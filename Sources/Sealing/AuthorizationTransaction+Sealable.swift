public import OAuth

extension AuthorizationTransaction: Sealable {
  /// The byte after the format version: the value of `redirectURIWasSent`, and the optional fields that are present,
  /// and the upstream fields that are left out because they equal the client's.
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

  /// `.state`, because the gateway sends a transaction to the upstream as the `state` parameter.
  public static var purpose: Purpose { .state }

  /// Appends the fields in format version 1. Absent fields are left out, and so are upstream fields that equal the
  /// client's.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if redirectURIWasSent { flags.insert(.redirectURIWasSent) }
    if state != nil { flags.insert(.hasState) }
    if scope != nil { flags.insert(.hasScope) }
    if upstreamClientID == clientID { flags.insert(.sameClientID) }
    if upstreamRedirectURI == redirectURI.text { flags.insert(.sameRedirectURI) }
    if upstreamVerifier != nil { flags.insert(.hasVerifier) }
    payload.writeByte(1)
    payload.writeByte(flags.rawValue)
    payload.writeBytes(withoutLength: id.bytes)
    payload.writeSeconds(expiry)
    payload.writeResponseMode(responseMode)
    payload.writeChallenge(challenge)
    payload.writeBytes(browserSecretHash)
    payload.writeText(clientID.rawValue)
    payload.writeText(redirectURI.text)
    if let state { payload.writeText(state) }
    if let scope { payload.writeText(scope.text) }
    if !flags.contains(.sameClientID) { payload.writeText(upstreamClientID.rawValue) }
    if !flags.contains(.sameRedirectURI) { payload.writeText(upstreamRedirectURI) }
    if let upstreamVerifier { payload.writeBytes(withoutLength: upstreamVerifier.bytes) }
  }

  /// Reads format version 1. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.checkFormatVersion(1)
    let flags = try payload.readFlags(Flags.all)
    let id = try payload.readTransactionID()
    let expiry = try payload.readSeconds()
    let responseMode = try payload.readResponseMode()
    let challenge = try payload.readChallenge()
    let browserSecretHash = try payload.readBytes()
    let clientID = ClientID(try payload.readText())
    let redirectURI = try payload.readRedirectURI()
    let state = flags.contains(.hasState) ? try payload.readText() : nil
    let scope = flags.contains(.hasScope) ? try payload.readScope() : nil
    let upstreamClientID = flags.contains(.sameClientID) ? clientID : ClientID(try payload.readText())
    let upstreamRedirectURI = flags.contains(.sameRedirectURI) ? redirectURI.text : try payload.readText()
    let upstreamVerifier = flags.contains(.hasVerifier) ? try payload.readUpstreamVerifier() : nil
    self.init(
      id: id, clientID: clientID, redirectURI: redirectURI,
      redirectURIWasSent: flags.contains(.redirectURIWasSent), state: state, challenge: challenge,
      responseMode: responseMode, scope: scope, upstreamClientID: upstreamClientID,
      upstreamRedirectURI: upstreamRedirectURI, upstreamVerifier: upstreamVerifier, expiry: expiry,
      browserSecretHash: browserSecretHash)
  }
}
