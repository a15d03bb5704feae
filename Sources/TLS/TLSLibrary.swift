internal import COpenSSL
internal import Cryptography

/// The setup of OpenSSL's libssl for this process, and its error queue. As with `CryptographyLibrary`, OpenSSL reads no
/// configuration file.
enum TLSLibrary {
  /// Initialises the library on the first call.
  static func start() { _ = started }

  private static let started: Bool = {
    CryptographyLibrary.start()
    guard OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) == 1 else {
      preconditionFailure("OpenSSL's TLS does not start")
    }
    return true
  }()

  /// Empties OpenSSL's error queue. This is necessary before a call whose errors are examined. Usually the queue is
  /// empty already, and the check for this takes a tenth of the time of `ERR_clear_error`.
  static func clearErrors() {
    if ERR_peek_error() != 0 { ERR_clear_error() }
  }

  /// Returns the reason why the last call failed, in OpenSSL's words without its codes, and empties the error queue.
  static func lastReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "no reason given" }
    return unsafe String(cString: text)
  }
}
