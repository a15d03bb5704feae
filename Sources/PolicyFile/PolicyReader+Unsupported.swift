extension PolicyReader {
  /// Records a setting that the format has and `serve` cannot honour yet. Running without it would not be what the
  /// operator asked for, so `check` and `serve` stop there.
  func reportUnsupported(_ field: Field, _ message: String) {
    unsupported.append(Self.diagnostic(.notYetSupported, .error, Place(field.key), message))
  }

  func readDeviceCodeLifetime(_ field: Field, _ settings: inout RuleSettings) {
    readRule(.deviceCodeLifetime, field, &settings)
    reportUnsupported(field, "the device grant is not served yet; remove `device_code_lifetime`")
  }
}
