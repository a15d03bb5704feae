import Policy

/// The tables of the format, from which the JSON Schema and the tables of the manual are generated.
enum PolicyFormat {
  /// A `SettingTable` without the type of its values.
  struct Table: Sendable {
    let name: String
    let summary: String
    /// The mapping must have all keys of at least one of these groups; empty if it needs none.
    let alternativeRequiredKeys: [[String]]
    let requiresExactlyOneKey: Bool
    let rows: [Row]

    init<Root>(_ table: SettingTable<Root>) {
      let defaults = table.defaults()
      name = table.name
      summary = table.summary
      alternativeRequiredKeys = table.alternativeRequiredKeys
      requiresExactlyOneKey = table.requiresExactlyOneKey
      rows = table.settings.map { setting in
        Row(
          key: setting.key, form: setting.form, summary: setting.summary, defaultValue: setting.value(in: defaults),
          defaultText: setting.defaultText, isRequired: setting.adviceIfMissing != nil, notes: setting.notes,
          isPlain: setting.isPlain)
      }
    }
  }

  /// A `Setting` without the type of its values.
  struct Row: Sendable {
    let key: String
    let form: SettingForm
    let summary: String
    /// The default; `nil` if there is none, or if the parser needs more than `form` to read the setting.
    let defaultValue: SettingValue?
    /// The default in words; `nil` if `defaultValue` is to be shown.
    let defaultText: String?
    let isRequired: Bool
    let notes: [String]
    /// False if the setting has a custom reader.
    let isPlain: Bool
  }

  /// All tables. The first table is that of the top level.
  static let tables = [
    Table(PolicyRoot.table), Table(GatewaySettings.table), Table(ListenerSettings.table), Table(ListenerTLS.table),
    Table(CertificateDraft.table), Table(StrictTransport.table), Table(UpstreamTLSDraft.table), Table(Branding.table),
    Table(LimitSettings.table), Table(AccessLogSettings.table), Table(AccessLogTarget.table),
    Table(StoreDraft.table), Table(FileDraft.table), Table(SecretDraft.table),
    Table(UpstreamSettings.table), Table(HealthCheckSettings.table), Table(EndpointPaths.table),
    Table(ScopeLists.table), Table(PolicyEnforcement.table),
    Table(ResourceSettings.table), Table(ResourceUpstream.table), Table(ResourceServerDraft.table),
    Table(RouteSettings.table), Table(HeaderChanges.table),
    Table(RegistrationSettings.table), Table(ClientDocumentSettings.table), Table(UnlistedRedirects.table),
    Table(ClientDenyList.table),
    Table(IncludeDraft.table),
    Table(IncludedFile.table), Table(ClientSettings.table), Table(UpstreamClient.table),
  ]

  /// The tables in which the reader searches for a key that is unknown in its mapping. If one of them has the key, the
  /// error message says where the key belongs.
  static let searchedTables = tables.filter { ["policy", "gateway", "upstream", "enforcement"].contains($0.name) }
}
