public import OAuth

/// The members of the metadata that are present, and the application type.
private struct Flags: OptionSet {
  let rawValue: UInt8

  static let isWeb = Flags(rawValue: 1)
  static let hasName = Flags(rawValue: 2)
  static let hasScope = Flags(rawValue: 4)
  static let usesRefreshTokens = Flags(rawValue: 8)
  static let hasInstance = Flags(rawValue: 16)
  static let all: Flags = [isWeb, hasName, hasScope, usesRefreshTokens, hasInstance]
}

extension ClientRegistration: Sealable {
  private static let formatVersion: UInt8 = 1

  /// `.registration`: the sealed value is part of a `client_id`.
  public static var purpose: Purpose { .registration }

  /// Appends the fields in the current format version. Equal registrations have equal bytes: the caller has sorted the
  /// redirect URIs and scope tokens.
  public func write(to payload: inout PayloadWriter) {
    var flags: Flags = []
    if metadata.applicationType == .web { flags.insert(.isWeb) }
    if metadata.name != nil { flags.insert(.hasName) }
    if metadata.scope != nil { flags.insert(.hasScope) }
    if metadata.usesRefreshTokens { flags.insert(.usesRefreshTokens) }
    if instance != nil { flags.insert(.hasInstance) }
    payload.writeByte(ClientRegistration.formatVersion)
    payload.writeByte(flags.rawValue)
    payload.writeNumber(UInt64(clamping: quarter.number))
    payload.writeByte(UInt8(clamping: metadata.redirectURIs.count))
    for uri in metadata.redirectURIs { payload.writeText(uri.text) }
    if let name = metadata.name { payload.writeText(name) }
    if let scope = metadata.scope { payload.writeText(scope.text) }
    if let instance { payload.writeBytes(withoutLength: instance) }
  }

  /// Reads the current format version. Throws `PayloadError` for any other form.
  public init(from payload: inout PayloadReader) throws(PayloadError) {
    try payload.checkFormatVersion(ClientRegistration.formatVersion)
    let flags = try payload.readFlags(allowed: Flags.all)
    let quarter = CalendarQuarter(number: Int(clamping: try payload.readNumber()))
    let count = try payload.readByte()
    guard (1...ClientMetadata.maximumRedirectURIs).contains(Int(count)) else { throw PayloadError() }
    var uris: [RedirectURI] = []
    for _ in 0..<count { uris.append(try payload.readRedirectURI()) }
    let name = flags.contains(.hasName) ? try payload.readText() : nil
    let scope = flags.contains(.hasScope) ? try payload.readScope() : nil
    let instance =
      flags.contains(.hasInstance) ? try payload.readBytes(count: ClientRegistration.instanceLength) : nil
    self.init(
      metadata: ClientMetadata(
        name: name, applicationType: flags.contains(.isWeb) ? .web : .native, redirectURIs: uris, scope: scope,
        usesRefreshTokens: flags.contains(.usesRefreshTokens)),
      quarter: quarter, instance: instance)
  }
}
