internal import COpenSSL
internal import Cryptography

/// OpenSSL's libssl as this process uses it: without a configuration file, like `CryptographyLibrary`.
enum TLSLibrary {
  static func start() { _ = started }

  private static let started: Bool = {
    CryptographyLibrary.start()
    guard OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG), nil) == 1 else {
      preconditionFailure("OpenSSL's TLS does not start")
    }
    return true
  }()

  /// Empties the queue of errors, which a call that is to be judged by them must find empty. To look first costs a tenth of
  /// emptying it.
  static func forgetErrors() {
    if ERR_peek_error() != 0 { ERR_clear_error() }
  }

  /// Why the last call failed, in OpenSSL's words without its codes; empties the queue of errors.
  static func lastReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else { return "no reason given" }
    return unsafe String(cString: text)
  }
}
