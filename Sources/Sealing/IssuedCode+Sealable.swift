public import OAuth

extension IssuedCode: Sealable {
  /// The byte after the format version: the value of `redirectURIWasSent`, and the optional fields that are present,
  /// and the upstream fields that are left out because they equal the client's.
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let redirectURIWasSent = Flags(rawValue: 1)
    static let hasScope = Flags(rawValue: 2)
    static let sameClientID = Flags(rawValue: 4)
    static let sameRedirectURI = Flags(rawValue: 8)
    static let hasVerifier = Flags(rawValue: 16)
    static let all: Flags = [redirectURIWasSent, hasScope, sameClientID, sameRedirectURI, hasVerifier]
  }

  /// `.code`, because the sealed value is the authorization code that the client receives.
  public static var purpose: Purpose { .code }

  /// Appends the fields in format version 1. Absent fields are left out, and so are upstream fields that equal the
  /// client's.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if redirectURIWasSent { flags.insert(.redirectURIWasSent) }
    if scope != nil { flags.insert(.hasScope) }
    if upstreamClientID == clientID { flags.insert(.sameClientID) }
    if upstreamRedirectURI == redirectURI.text { flags.insert(.sameRedirectURI) }
    if upstreamVerifier != nil { flags.insert(.hasVerifier) }
    payload.writeByte(1)
    payload.writeByte(flags.rawValue)
    payload.writeBytes(withoutLength: transactionID.bytes)
    payload.writeSeconds(expiry)
    payload.writeChallenge(challenge)
    payload.writeText(clientID.rawValue)
    payload.writeText(redirectURI.text)
    payload.writeText(upstreamCode.reveal())
    if let scope { payload.writeText(scope.text) }
    if !flags.contains(.sameClientID) { payload.writeText(upstreamClientID.rawValue) }
    if !flags.contains(.sameRedirectURI) { payload.writeText(upstreamRedirectURI) }
    if let upstreamVerifier { payload.writeBytes(withoutLength: upstreamVerifier.bytes) }
  }

  /// Reads format version 1. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.checkFormatVersion(1)
    let flags = try payload.readFlags(Flags.all)
    let transactionID = try payload.readTransactionID()
    let expiry = try payload.readSeconds()
    let challenge = try payload.readChallenge()
    let clientID = ClientID(try payload.readText())
    let redirectURI = try payload.readRedirectURI()
    let upstreamCode = Secret(try payload.readText())
    let scope = flags.contains(.hasScope) ? try payload.readScope() : nil
    let upstreamClientID = flags.contains(.sameClientID) ? clientID : ClientID(try payload.readText())
    let upstreamRedirectURI = flags.contains(.sameRedirectURI) ? redirectURI.text : try payload.readText()
    let upstreamVerifier = flags.contains(.hasVerifier) ? try payload.readUpstreamVerifier() : nil
    self.init(
      transactionID: transactionID, clientID: clientID, redirectURI: redirectURI,
      redirectURIWasSent: flags.contains(.redirectURIWasSent), challenge: challenge, scope: scope,
      upstreamCode: upstreamCode, upstreamClientID: upstreamClientID, upstreamRedirectURI: upstreamRedirectURI,
      upstreamVerifier: upstreamVerifier, expiry: expiry)
  }
}
