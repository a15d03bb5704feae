internal import COpenSSL

/// OpenSSL's libcrypto as this process uses it: without a configuration file, with the built-in providers.
///
/// Everything in this module goes through here, so the library is always started this way first. Code that uses
/// OpenSSL beside this module (TLS) calls `start()` before its first call.
public enum CryptographyLibrary {
  /// Starts the library once; later calls cost a load.
  ///
  /// No configuration file, so that a file on the host cannot swap an algorithm or load a module; no exit handler,
  /// because threads that still seal while the process exits would use what the handler has freed.
  public static func start() { _ = started }

  /// What is linked, e.g. `OpenSSL 3.0.22 25 Aug 2026`.
  public static var version: String {
    guard let text = unsafe OpenSSL_version(OPENSSL_VERSION) else { return "" }
    return unsafe String(cString: text)
  }

  private static let started: Bool = {
    // The headers' version is checked where they are included; what is loaded may be another one.
    guard OpenSSL_version_num() >= 0x3000_0030 else { preconditionFailure("OpenSSL 3.0.3 or newer is needed") }
    let options = UInt64(OPENSSL_INIT_NO_LOAD_CONFIG) | UInt64(OPENSSL_INIT_NO_ATEXIT)
    guard OPENSSL_init_crypto(options, nil) == 1 else {
      preconditionFailure("OpenSSL does not start")
    }
    return true
  }()
}
