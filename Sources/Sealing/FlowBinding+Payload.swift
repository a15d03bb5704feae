internal import OAuth

/// The first byte of the payload of a binding. It says whether `redirectURIWasSent` is true, which optional fields are
/// present, and which upstream fields are omitted because they equal the client's.
private struct Flags: OptionSet {
  let rawValue: UInt8

  static let redirectURIWasSent = Flags(rawValue: 1)
  static let hasScope = Flags(rawValue: 2)
  static let sameClientID = Flags(rawValue: 4)
  static let sameRedirectURI = Flags(rawValue: 8)
  static let hasVerifier = Flags(rawValue: 16)
  static let all: Flags = [redirectURIWasSent, hasScope, sameClientID, sameRedirectURI, hasVerifier]
}

extension PayloadWriter {
  /// Appends the fields of a binding. Omits absent fields, and upstream fields that equal the client's.
  mutating func writeBinding(_ binding: FlowBinding) {
    var flags: Flags = []
    if binding.redirectURIWasSent { flags.insert(.redirectURIWasSent) }
    if binding.client.scope != nil { flags.insert(.hasScope) }
    if binding.client.upstreamClientID == binding.client.clientID { flags.insert(.sameClientID) }
    if binding.upstreamRedirectURI == binding.redirectURI.text { flags.insert(.sameRedirectURI) }
    if binding.upstreamVerifier != nil { flags.insert(.hasVerifier) }
    writeByte(flags.rawValue)
    writeChallenge(binding.challenge)
    writeText(binding.client.clientID.rawValue)
    writeText(binding.redirectURI.text)
    if let scope = binding.client.scope { writeText(scope.text) }
    if !flags.contains(.sameClientID) { writeText(binding.client.upstreamClientID.rawValue) }
    if !flags.contains(.sameRedirectURI) { writeText(binding.upstreamRedirectURI) }
    if let verifier = binding.upstreamVerifier { writeBytes(withoutLength: verifier.bytes) }
  }
}

extension PayloadReader {
  /// Reads a binding. Throws `PayloadError` for bytes that `writeBinding(_:)` does not write.
  mutating func readBinding() throws(PayloadError) -> FlowBinding {
    let flags = try readFlags(Flags.all)
    let challenge = try readChallenge()
    let clientID = ClientID(try readText())
    let redirectURI = try readRedirectURI()
    let scope = flags.contains(.hasScope) ? try readScope() : nil
    let upstreamClientID = flags.contains(.sameClientID) ? clientID : ClientID(try readText())
    let upstreamRedirectURI = flags.contains(.sameRedirectURI) ? redirectURI.text : try readText()
    let upstreamVerifier = flags.contains(.hasVerifier) ? try readUpstreamVerifier() : nil
    return FlowBinding(
      clientID: clientID, redirectURI: redirectURI, redirectURIWasSent: flags.contains(.redirectURIWasSent),
      challenge: challenge, scope: scope, upstreamClientID: upstreamClientID,
      upstreamRedirectURI: upstreamRedirectURI, upstreamVerifier: upstreamVerifier)
  }
}
