internal import COpenSSL

/// A supported version of TLS. Older versions are deprecated (RFC 8996).
public enum TLSVersion: Sendable {
  /// TLS 1.2 (RFC 5246).
  case v12
  /// TLS 1.3 (RFC 8446).
  case v13

  /// The number by which OpenSSL identifies the version.
  var code: Int32 {
    switch self {
    case .v12: TLS1_2_VERSION
    case .v13: TLS1_3_VERSION
    }
  }
}
