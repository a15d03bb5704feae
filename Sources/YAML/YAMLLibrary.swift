import CYAML

/// libyaml as it is linked.
public enum YAMLLibrary {
  /// E.g. `0.2.5`.
  public static var version: String {
    guard let text = unsafe yaml_get_version_string() else { return "" }
    return unsafe String(cString: text)
  }
}
