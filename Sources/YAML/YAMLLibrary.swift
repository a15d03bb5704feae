import CYAML

/// The libyaml that is linked into the program.
public enum YAMLLibrary {
  /// The version of libyaml, e.g. `0.2.5`.
  public static var version: String {
    guard let text = unsafe yaml_get_version_string() else { return "" }
    return unsafe String(cString: text)
  }
}
