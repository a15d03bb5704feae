/// What the format knows: the source of the tests that keep schema and documentation complete.
public enum PolicyFormat {
  /// The keys of every mapping, under the mapping's name in the JSON Schema (`$defs`); `policy` is the file itself.
  public static let sections: [String: [String]] = {
    var sections: [String: [String]] = [:]
    func add<Key: SectionKey>(_: Key.Type) { sections[Key.section] = Key.allCases.map(\.rawValue) }
    add(RootKey.self)
    add(GatewayKey.self)
    add(ListenerKey.self)
    add(TLSKey.self)
    add(CertificateKey.self)
    add(StrictTransportKey.self)
    add(UpstreamTLSKey.self)
    add(BrandingKey.self)
    add(LimitKey.self)
    add(StoreKey.self)
    add(FileKey.self)
    add(SecretKey.self)
    add(UpstreamKey.self)
    add(EndpointKey.self)
    add(ScopeKey.self)
    add(EnforcementKey.self)
    add(IncludeKey.self)
    add(IncludedFileKey.self)
    add(ClientKey.self)
    add(ClientUpstreamKey.self)
    return sections
  }()
}
