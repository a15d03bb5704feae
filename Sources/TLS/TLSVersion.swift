internal import COpenSSL

/// A version of TLS that is spoken at all. Older ones are broken (RFC 8996).
public enum TLSVersion: Sendable {
  case v12
  case v13

  var code: Int32 {
    switch self {
    case .v12: TLS1_2_VERSION
    case .v13: TLS1_3_VERSION
    }
  }
}
