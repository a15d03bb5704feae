public import OAuth
internal import Time

extension RefreshGrant: Sealable {
  /// The byte after the format version: a bit for each optional field that is present, and a bit that is set if the
  /// upstream client id is omitted because it equals the client id at the gateway.
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let hasScope = Flags(rawValue: 1)
    static let upstreamClientIDIsSame = Flags(rawValue: 2)
    static let hasResource = Flags(rawValue: 4)
    static let hasDocument = Flags(rawValue: 8)
    static let hasAddress = Flags(rawValue: 16)
    static let hasIdleLifetime = Flags(rawValue: 32)
    static let all: Flags = [
      hasScope, upstreamClientIDIsSame, hasResource, hasDocument, hasAddress, hasIdleLifetime,
    ]
  }

  /// The format version that `write(to:)` uses. Version 1, which has no epoch (see `EpochID`), can still be read,
  /// because refresh tokens are valid for months.
  private static let formatVersion: UInt8 = 2

  /// `.refresh`, because the sealed value is the refresh token that the client receives.
  public static var purpose: Purpose { .refresh }

  /// Appends the fields in format version 2. Omits absent fields, an upstream client id that equals the client id at
  /// the gateway, and the default lifetime, with which the token has the same bytes as in versions without a lifetime.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if binding.scope != nil { flags.insert(.hasScope) }
    if binding.upstreamClientID == binding.clientID { flags.insert(.upstreamClientIDIsSame) }
    if binding.resource != nil { flags.insert(.hasResource) }
    // A document in a grant always has its redirect URI, so that the policy can deny it later.
    let document = binding.document.flatMap { document in document.redirectURIs.first.map { ($0, document) } }
    if document != nil { flags.insert(.hasDocument) }
    if binding.upstreamAddress != nil { flags.insert(.hasAddress) }
    if idleLifetime != RefreshGrant.defaultIdleLifetime { flags.insert(.hasIdleLifetime) }
    payload.writeByte(RefreshGrant.formatVersion)
    payload.writeByte(flags.rawValue)
    payload.writeBytes(withoutLength: family.bytes)
    payload.writeNumber(UInt64(clamping: generation))
    payload.writeTime(issuedAt)
    payload.writeNumber(epoch.rawValue)
    payload.writeText(binding.clientID.rawValue)
    payload.writeText(upstreamRefreshToken.reveal())
    if let scope = binding.scope { payload.writeText(scope.text) }
    if !flags.contains(.upstreamClientIDIsSame) { payload.writeText(binding.upstreamClientID.rawValue) }
    if let resource = binding.resource { payload.writeText(resource) }
    if let (redirectURI, metadata) = document { payload.writeDocument(metadata, redirectURI) }
    if let address = binding.upstreamAddress { payload.writeAddress(address) }
    if flags.contains(.hasIdleLifetime) { payload.writeNumber(UInt64(clamping: idleLifetime.count)) }
  }

  /// Reads format version 1 or 2. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    let version = try payload.readByte()
    guard (1...RefreshGrant.formatVersion).contains(version) else { throw PayloadError() }
    let flags = try payload.readFlags(allowed: Flags.all)
    // The identifier of a family has the form of a transaction identifier.
    let family = try payload.readTransactionID()
    guard let generation = Int(exactly: try payload.readNumber()) else { throw PayloadError() }
    let issuedAt = try payload.readTime()
    let epoch = version == 1 ? EpochID.none : EpochID(rawValue: try payload.readNumber())
    let clientID = ClientID(try payload.readText())
    let upstreamRefreshToken = Secret(try payload.readText())
    let scope = flags.contains(.hasScope) ? try payload.readScope() : nil
    let upstreamClientID = flags.contains(.upstreamClientIDIsSame) ? clientID : ClientID(try payload.readText())
    let resource = flags.contains(.hasResource) ? try payload.readText() : nil
    let document = flags.contains(.hasDocument) ? try payload.readDocument() : nil
    var binding = ClientBinding(
      clientID: clientID, scope: scope, upstreamClientID: upstreamClientID, resource: resource, document: document)
    if flags.contains(.hasAddress) { binding.upstreamAddress = try payload.readAddress() }
    let idleLifetime = flags.contains(.hasIdleLifetime) ? try payload.readNumber() : nil
    self.init(
      family: family, generation: generation, epoch: epoch, binding: binding,
      upstreamRefreshToken: upstreamRefreshToken, issuedAt: issuedAt)
    guard let idleLifetime else { return }
    guard let seconds = Int32(exactly: idleLifetime) else { throw PayloadError() }
    self.idleLifetime = Seconds(Int(seconds))
    // The default is omitted.
    guard self.idleLifetime != RefreshGrant.defaultIdleLifetime else { throw PayloadError() }
  }
}
