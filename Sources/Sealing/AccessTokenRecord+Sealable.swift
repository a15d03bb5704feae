public import OAuth

extension AccessTokenRecord: Sealable {
  /// The byte after the format version: a bit for each optional field that is present, and one for each property that
  /// is true.
  private struct Flags: OptionSet {
    let rawValue: UInt8

    static let hasResource = Flags(rawValue: 1)
    static let hasScope = Flags(rawValue: 2)
    static let hasFamily = Flags(rawValue: 4)
    static let isShared = Flags(rawValue: 8)
    static let isRevoked = Flags(rawValue: 16)
    static let hasDocument = Flags(rawValue: 32)
    static let all: Flags = [hasResource, hasScope, hasFamily, isShared, isRevoked, hasDocument]
  }

  /// The only version that is read.
  private static let formatVersion: UInt8 = 1

  /// `.accessToken`, because the store keeps the sealed record of an access token.
  public static var purpose: Purpose { .accessToken }

  /// Appends the fields in the current format version. Omits absent fields.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if resource != nil { flags.insert(.hasResource) }
    if scope != nil { flags.insert(.hasScope) }
    if family != nil { flags.insert(.hasFamily) }
    if isShared { flags.insert(.isShared) }
    if isRevoked { flags.insert(.isRevoked) }
    // A client acts with one redirect URI at a time. Without one, no rule could permit the client.
    let documentURI = document?.redirectURIs.first
    if documentURI != nil { flags.insert(.hasDocument) }
    payload.writeByte(AccessTokenRecord.formatVersion)
    payload.writeByte(flags.rawValue)
    payload.writeTime(issuedAt)
    payload.writeTime(expiry)
    payload.writeText(clientID.rawValue)
    if let resource { payload.writeText(resource) }
    if let scope { payload.writeText(scope.text) }
    if let family { payload.writeBytes(withoutLength: family.bytes) }
    if let document, let documentURI { payload.writeDocument(document, documentURI) }
  }

  /// Reads the current format version. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.checkFormatVersion(AccessTokenRecord.formatVersion)
    let flags = try payload.readFlags(allowed: Flags.all)
    let issuedAt = try payload.readTime()
    let expiry = try payload.readTime()
    let clientID = ClientID(try payload.readText())
    let resource = flags.contains(.hasResource) ? try payload.readText() : nil
    let scope = flags.contains(.hasScope) ? try payload.readScope() : nil
    let family = flags.contains(.hasFamily) ? try payload.readTransactionID() : nil
    let document = flags.contains(.hasDocument) ? try payload.readDocument() : nil
    self.init(
      clientID: clientID, resource: resource, scope: scope, family: family, issuedAt: issuedAt, expiry: expiry,
      document: document)
    isShared = flags.contains(.isShared)
    isRevoked = flags.contains(.isRevoked)
  }
}
