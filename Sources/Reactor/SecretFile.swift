import CLinux

/// Writes files with secrets.
public enum SecretFile {
  /// Writes a new file with mode 0600, so that only its owner may read it. The file is written completely or not
  /// created.
  ///
  /// Throws EEXIST if the file exists.
  public static func create(_ path: String, _ bytes: [UInt8]) throws(IOError) {
    try write(path, bytes, replaces: 0)
  }

  /// Replaces a file atomically: readers see either the old content or the new one. The owner, the group, and their
  /// permissions to read and write are kept; all other users lose access. If this process may not set the owner and
  /// group, the new file has mode 0600.
  public static func replace(_ path: String, _ bytes: [UInt8]) throws(IOError) {
    try write(path, bytes, replaces: 1)
  }

  private static func write(_ path: String, _ bytes: [UInt8], replaces: Int32) throws(IOError) {
    let result = unsafe bytes.withUnsafeBytes { buffer -> Int32 in
      guard let base = buffer.baseAddress else { return 0 }
      return unsafe cl_write_secret_file(path, base, buffer.count, replaces)
    }
    _ = try IOError.check(result)
  }
}
