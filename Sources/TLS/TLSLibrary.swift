internal import COpenSSL
internal import Cryptography

/// The setup of OpenSSL's libssl for this process: without a configuration file, like `CryptographyLibrary`.
enum TLSLibrary {
  /// Starts the library on the first call.
  static func start() { _ = started }

  private static let started: Bool = {
    CryptographyLibrary.start()
    guard OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) == 1 else {
      preconditionFailure("OpenSSL's TLS does not start")
    }
    return true
  }()

  /// Empties OpenSSL's error queue, which must be empty before a call whose errors are examined. The check takes a
  /// tenth of the time of emptying the queue, which is usually empty already.
  static func forgetErrors() {
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
