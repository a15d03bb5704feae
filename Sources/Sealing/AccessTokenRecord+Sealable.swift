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
    /// The record is kept longer than the token is active.
    static let hasEnd = Flags(rawValue: 64)
    static let hasOtherHolders = Flags(rawValue: 128)
    static let all = Flags(rawValue: 255)
  }

  /// The byte in front of each further holder: a bit for each optional field that is present.
  private struct HolderFlags: OptionSet {
    let rawValue: UInt8

    static let hasFamily = HolderFlags(rawValue: 1)
    static let hasDocument = HolderFlags(rawValue: 2)
    /// The client and its metadata are those of the holder in front of this one, and omitted.
    static let isSameClient = HolderFlags(rawValue: 4)
    static let all: HolderFlags = [hasFamily, hasDocument, isSameClient]
  }

  /// The only version that is read. Records without an end and further holders are the same as those of versions of the
  /// gateway that did not know these fields.
  private static let formatVersion: UInt8 = 1

  /// `.accessToken`, because the store keeps the sealed record of an access token.
  public static var purpose: Purpose { .accessToken }

  /// Appends the fields in the current format version. Omits absent fields.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if resource != nil { flags.insert(.hasResource) }
    if scope != nil { flags.insert(.hasScope) }
    if holder.family != nil { flags.insert(.hasFamily) }
    if isShared { flags.insert(.isShared) }
    if isRevoked { flags.insert(.isRevoked) }
    // A client acts with one redirect URI at a time. Without one, no rule could permit the client.
    let documentURI = holder.document?.redirectURIs.first
    if documentURI != nil { flags.insert(.hasDocument) }
    if end > expiry { flags.insert(.hasEnd) }
    if !otherHolders.isEmpty { flags.insert(.hasOtherHolders) }
    payload.writeByte(AccessTokenRecord.formatVersion)
    payload.writeByte(flags.rawValue)
    payload.writeTime(issuedAt)
    payload.writeTime(expiry)
    payload.writeText(holder.clientID.rawValue)
    if let resource { payload.writeText(resource) }
    if let scope { payload.writeText(scope.text) }
    if let family = holder.family { payload.writeBytes(withoutLength: family.bytes) }
    if let document = holder.document, let documentURI { payload.writeDocument(document, documentURI) }
    if end > expiry { payload.writeTime(end) }
    guard !otherHolders.isEmpty else { return }
    payload.writeByte(UInt8(otherHolders.count))
    for (previous, holder) in zip(holders, otherHolders) {
      AccessTokenRecord.write(holder, after: previous, to: &payload)
    }
  }

  private static func write(
    _ holder: AccessTokenHolder, after previous: AccessTokenHolder, to payload: inout PayloadWriter
  ) {
    if holder.hasSameClient(as: previous) {
      payload.writeByte(HolderFlags.isSameClient.union(holder.family == nil ? [] : .hasFamily).rawValue)
      if let family = holder.family { payload.writeBytes(withoutLength: family.bytes) }
      return
    }
    var flags: HolderFlags = []
    let documentURI = holder.document?.redirectURIs.first
    if holder.family != nil { flags.insert(.hasFamily) }
    if documentURI != nil { flags.insert(.hasDocument) }
    payload.writeByte(flags.rawValue)
    payload.writeText(holder.clientID.rawValue)
    if let family = holder.family { payload.writeBytes(withoutLength: family.bytes) }
    if let document = holder.document, let documentURI { payload.writeDocument(document, documentURI) }
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
    let end = flags.contains(.hasEnd) ? try payload.readTime() : expiry
    guard flags.contains(.hasEnd) == (end > expiry) else { throw PayloadError() }
    let first = AccessTokenHolder(clientID: clientID, family: family, document: document)
    let others = flags.contains(.hasOtherHolders) ? try AccessTokenRecord.readOtherHolders(&payload, after: first) : []
    self.init(
      first, otherHolders: others,
      resource: resource, scope: scope, issuedAt: issuedAt, expiry: expiry, end: end)
    isShared = flags.contains(.isShared)
    isRevoked = flags.contains(.isRevoked)
  }

  private static func readOtherHolders(
    _ payload: inout PayloadReader, after first: AccessTokenHolder
  ) throws(PayloadError) -> [AccessTokenHolder] {
    let count = Int(try payload.readByte())
    guard (1..<maximumHolders).contains(count) else { throw PayloadError() }
    var holders = [first]
    for _ in 0..<count {
      let flags = try payload.readFlags(allowed: HolderFlags.all)
      var holder = holders[holders.count - 1]
      if flags.contains(.isSameClient) {
        guard !flags.contains(.hasDocument) else { throw PayloadError() }
        holder.family = flags.contains(.hasFamily) ? try payload.readTransactionID() : nil
      } else {
        let clientID = ClientID(try payload.readText())
        let family = flags.contains(.hasFamily) ? try payload.readTransactionID() : nil
        let document = flags.contains(.hasDocument) ? try payload.readDocument() : nil
        let previous = holder
        holder = AccessTokenHolder(clientID: clientID, family: family, document: document)
        // A client has one form.
        guard !holder.hasSameClient(as: previous) else { throw PayloadError() }
      }
      holders.append(holder)
    }
    return Array(holders.dropFirst())
  }
}
