internal import CNghttp2

/// The linked nghttp2 library.
public enum HTTP2Library {
  /// The version, for example `1.52.0`.
  public static var version: String {
    guard let info = unsafe nghttp2_version(0), let text = unsafe info.pointee.version_str else { return "" }
    return unsafe String(cString: text)
  }
}
