internal import COpenSSL

/// The setup of OpenSSL's libcrypto for this process: no configuration file, and only the built-in providers.
///
/// The functions of this module call `start()` where OpenSSL must be initialised. The TLS module also uses OpenSSL, and
/// calls `start()` before its first call of OpenSSL.
public enum CryptographyLibrary {
  /// Initialises OpenSSL on the first call. Later calls do nothing.
  ///
  /// OpenSSL reads no configuration file, so that a file on the host cannot replace an algorithm or load a module. It
  /// installs no exit handler, because the handler would free objects that other threads still use while the process
  /// exits.
  public static func start() { _ = started }

  /// The version of the loaded library, e.g. `OpenSSL 3.0.22 25 Aug 2026`.
  public static var version: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION) else { return "" }
    return unsafe String(cString: text)
  }

  private static let started: Bool = {
    // `shim.h` checks the version of the headers at compile time; the library that is loaded may have another version.
    guard OpenSSL_version_num() >= 0x3000_0030 else { preconditionFailure("OpenSSL 3.0.3 or newer is needed") }
    let options = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT)
    guard OPENSSL_init_crypto(options, nil) == 1 else {
      preconditionFailure("OpenSSL does not start")
    }
    return true
  }()
}
