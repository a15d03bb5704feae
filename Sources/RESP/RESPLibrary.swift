internal import CHiredis

/// The linked hiredis library.
public enum RESPLibrary {
  /// The version, for example `0.14.1`.
  public static var version: String { "\(HIREDIS_MAJOR).\(HIREDIS_MINOR).\(HIREDIS_PATCH)" }
}
