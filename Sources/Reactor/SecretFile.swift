import CLinux

/// Writes files that only their owner may read.
public enum SecretFile {
  /// Writes a new file with mode 0600, whole or not at all.
  ///
  /// Throws EEXIST when there is a file already.
  public static func create(_ path: String, _ bytes: [UInt8]) throws(IOError) {
    try write(path, bytes, replaces: 0)
  }

  /// Replaces a file: readers see the old one or the new one. Owner and group stay; others lose what rights they had.
  ///
  /// Throws ENOENT if the file does not exist.
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
