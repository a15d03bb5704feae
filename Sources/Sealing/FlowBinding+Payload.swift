internal import OAuth

/// The first byte of an encoded `FlowBinding` (the values that a transaction and its code have in common). It contains
/// the value of `redirectURIWasSent`, a bit for each optional field that is present, and a bit for each upstream field
/// that is omitted because it equals the client's field.
private struct Flags: OptionSet {
  let rawValue: UInt8

  static let redirectURIWasSent = Flags(rawValue: 1)
  static let hasScope = Flags(rawValue: 2)
  static let upstreamClientIDIsSame = Flags(rawValue: 4)
  static let upstreamRedirectURIIsSame = Flags(rawValue: 8)
  static let hasVerifier = Flags(rawValue: 16)
  static let hasResource = Flags(rawValue: 32)
  static let hasDocument = Flags(rawValue: 64)
  /// The client id is the short form of an issued one: its digest, and a byte that is 1 if an outline follows.
  static let hasDigest = Flags(rawValue: 128)
  static let all: Flags = [
    redirectURIWasSent, hasScope, upstreamClientIDIsSame, upstreamRedirectURIIsSame, hasVerifier, hasResource,
    hasDocument, hasDigest,
  ]
}

extension PayloadWriter {
  /// Appends the fields of a binding. Omits absent fields, and upstream fields that equal the client's fields.
  mutating func writeBinding(_ binding: FlowBinding) {
    var flags: Flags = []
    if binding.redirectURIWasSent { flags.insert(.redirectURIWasSent) }
    if binding.client.scope != nil { flags.insert(.hasScope) }
    if binding.client.upstreamClientID == binding.client.clientID { flags.insert(.upstreamClientIDIsSame) }
    if binding.upstreamRedirectURI == binding.redirectURI.text { flags.insert(.upstreamRedirectURIIsSame) }
    if binding.upstreamVerifier != nil { flags.insert(.hasVerifier) }
    if binding.client.resource != nil { flags.insert(.hasResource) }
    if binding.client.document != nil { flags.insert(.hasDocument) }
    let digest = binding.client.clientID.digest
    if digest != nil { flags.insert(.hasDigest) }
    writeByte(flags.rawValue)
    writeChallenge(binding.challenge)
    if let digest {
      writeBytes(withoutLength: digest)
      writeByte(binding.client.registration == nil ? 0 : 1)
    } else {
      writeText(binding.client.clientID.rawValue)
    }
    writeText(binding.redirectURI.text)
    if let scope = binding.client.scope { writeText(scope.text) }
    if !flags.contains(.upstreamClientIDIsSame) { writeText(binding.client.upstreamClientID.rawValue) }
    if !flags.contains(.upstreamRedirectURIIsSame) { writeText(binding.upstreamRedirectURI) }
    if let verifier = binding.upstreamVerifier { writeBytes(withoutLength: verifier.bytes) }
    if let resource = binding.client.resource { writeText(resource) }
    // The redirect URI of the document is that of the binding.
    if let document = binding.client.document { writeMetadata(document) }
    if digest != nil, let registration = binding.client.registration { writeRegistration(registration) }
  }

  /// Appends an outline without its first redirect URI, which is that of the binding.
  private mutating func writeRegistration(_ registration: RegistrationOutline) {
    writeNumber(UInt64(clamping: registration.quarter.number))
    writeMetadata(registration.metadata)
    let others = registration.metadata.redirectURIs.dropFirst()
    writeByte(UInt8(clamping: others.count))
    for uri in others { writeText(uri.text) }
  }
}

extension PayloadReader {
  /// Reads a binding. Throws `PayloadError` for bytes that `writeBinding(_:)` does not write.
  mutating func readBinding() throws(PayloadError) -> FlowBinding {
    let flags = try readFlags(allowed: Flags.all)
    let challenge = try readChallenge()
    let (clientID, hasRegistration) = try readClientID(isDigest: flags.contains(.hasDigest))
    let redirectURI = try readRedirectURI()
    let scope = flags.contains(.hasScope) ? try readScope() : nil
    let upstreamClientID = flags.contains(.upstreamClientIDIsSame) ? clientID : ClientID(try readText())
    let upstreamRedirectURI = flags.contains(.upstreamRedirectURIIsSame) ? redirectURI.text : try readText()
    let upstreamVerifier = flags.contains(.hasVerifier) ? try readUpstreamVerifier() : nil
    let resource = flags.contains(.hasResource) ? try readText() : nil
    let document = flags.contains(.hasDocument) ? try readMetadata(redirectURI: redirectURI) : nil
    let registration = hasRegistration ? try readRegistration(redirectURI: redirectURI) : nil
    return FlowBinding(
      clientID: clientID, redirectURI: redirectURI, redirectURIWasSent: flags.contains(.redirectURIWasSent),
      challenge: challenge, scope: scope, upstreamClientID: upstreamClientID,
      upstreamRedirectURI: upstreamRedirectURI, upstreamVerifier: upstreamVerifier, resource: resource,
      document: document, registration: registration)
  }

  private mutating func readClientID(
    isDigest: Bool
  ) throws(PayloadError) -> (id: ClientID, hasRegistration: Bool) {
    guard isDigest else {
      let id = ClientID(try readText())
      // An issued id, or its short form, has only one form in a payload.
      guard id.shortForm == id, id.digest == nil else { throw PayloadError() }
      return (id, false)
    }
    let id = ClientID(digest: try readBytes(count: ClientID.digestLength))
    let flag = try readByte()
    guard flag <= 1 else { throw PayloadError() }
    return (id, flag == 1)
  }

  private mutating func readRegistration(
    redirectURI: RedirectURI
  ) throws(PayloadError) -> RegistrationOutline {
    let quarter = CalendarQuarter(number: Int(clamping: try readNumber()))
    var metadata = try readMetadata(redirectURI: redirectURI)
    let count = try readByte()
    guard count <= ClientMetadata.maximumRedirectURIs else { throw PayloadError() }
    for _ in 0..<count { metadata.redirectURIs.append(try readRedirectURI()) }
    return RegistrationOutline(metadata: metadata, quarter: quarter)
  }
}
