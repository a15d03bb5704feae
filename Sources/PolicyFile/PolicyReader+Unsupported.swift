extension PolicyReader {
  /// Records a setting that the format has and `serve` cannot honour yet. Running without it would not be what the
  /// operator asked for, so `check` and `serve` stop there.
  func reportUnsupported(_ field: Field, _ message: String) {
    unsupported.append(Self.diagnostic(.notYetSupported, .error, Place(field.key), message))
  }
}
