internal import COpenSSL

/// The setup of OpenSSL's libcrypto for this process: no configuration file, and only the built-in providers.
///
/// All code of this module starts the library through this type. Other code that uses OpenSSL (the TLS module) calls
/// `start()` before its first call.
public enum CryptographyLibrary {
  /// Starts the library on the first call; later calls cost one load.
  ///
  /// No configuration file is read, so that a file on the host cannot replace an algorithm or load a module. No exit
  /// handler is installed, because it would free objects that other threads still use while the process exits.
  public static func start() { _ = started }

  /// The version of the loaded library, e.g. `OpenSSL 3.0.22 25 Aug 2026`.
  public static var version: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION) else { return "" }
    return unsafe String(cString: text)
  }

  private static let started: Bool = {
    // The version of the headers is checked where they are included; the library that is loaded may be another version.
    guard OpenSSL_version_num() >= 0x3000_0030 else { preconditionFailure("OpenSSL 3.0.3 or newer is needed") }
    let options = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT)
    guard OPENSSL_init_crypto(options, nil) == 1 else {
      preconditionFailure("OpenSSL does not start")
    }
    return true
  }()
}
