package import OAuth

/// The members of the metadata that are present, and the application type.
private struct Flags: OptionSet {
  let rawValue: UInt8

  static let isWeb = Flags(rawValue: 1)
  static let hasName = Flags(rawValue: 2)
  static let hasScope = Flags(rawValue: 4)
  static let usesRefreshTokens = Flags(rawValue: 8)
  static let hasRelatedURIs = Flags(rawValue: 16)
  static let all: Flags = [isWeb, hasName, hasScope, usesRefreshTokens, hasRelatedURIs]
}

extension PayloadWriter {
  /// Appends the metadata in a client document, whose only redirect URI is the given one.
  package mutating func writeDocument(_ metadata: ClientMetadata, _ redirectURI: RedirectURI) {
    writeText(redirectURI.text)
    writeMetadata(metadata)
  }

  /// Appends the metadata in a client document, without the redirect URI.
  mutating func writeMetadata(_ metadata: ClientMetadata) {
    var flags: Flags = []
    if metadata.applicationType == .web { flags.insert(.isWeb) }
    if metadata.name != nil { flags.insert(.hasName) }
    if metadata.scope != nil { flags.insert(.hasScope) }
    if metadata.usesRefreshTokens { flags.insert(.usesRefreshTokens) }
    if !metadata.relatedURIs.isEmpty { flags.insert(.hasRelatedURIs) }
    writeByte(flags.rawValue)
    if let name = metadata.name { writeText(name) }
    if let scope = metadata.scope { writeText(scope.text) }
    guard !metadata.relatedURIs.isEmpty else { return }
    writeByte(UInt8(metadata.relatedURIs.count))
    for uri in metadata.relatedURIs { writeText(uri.text) }
  }
}

extension PayloadReader {
  /// Reads metadata with one redirect URI. Throws `PayloadError` for bytes that `writeDocument(_:_:)` does not write.
  package mutating func readDocument() throws(PayloadError) -> ClientMetadata {
    try readMetadata(redirectURI: try readRedirectURI())
  }

  /// Reads metadata and adds the redirect URI. Throws `PayloadError` for bytes that `writeMetadata(_:)` does not write.
  mutating func readMetadata(redirectURI: RedirectURI) throws(PayloadError) -> ClientMetadata {
    let flags = try readFlags(allowed: Flags.all)
    let name = flags.contains(.hasName) ? try readText() : nil
    let scope = flags.contains(.hasScope) ? try readScope() : nil
    let relatedURIs = flags.contains(.hasRelatedURIs) ? try readRelatedURIs() : []
    return ClientMetadata(
      name: name, applicationType: flags.contains(.isWeb) ? .web : .native, redirectURIs: [redirectURI],
      relatedURIs: relatedURIs, scope: scope, usesRefreshTokens: flags.contains(.usesRefreshTokens))
  }

  private mutating func readRelatedURIs() throws(PayloadError) -> [RedirectURI] {
    let count = Int(try readByte())
    guard (1...ClientMetadata.maximumRelatedURIs).contains(count) else { throw PayloadError() }
    var uris: [RedirectURI] = []
    for _ in 0..<count { uris.append(try readRedirectURI()) }
    return uris
  }
}
