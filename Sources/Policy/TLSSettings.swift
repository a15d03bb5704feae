public import Cryptography

/// A certificate with its chain, and its key.
public struct CertificateAndKey: Sendable {
  public let chain: CertificateChain
  public let key: PrivateKey

  public init(chain: CertificateChain, key: PrivateKey) {
    self.chain = chain
    self.key = key
  }
}

/// The oldest version of TLS that is accepted; older ones than these are never (RFC 8996).
public enum MinimumTLSVersion: String, Sendable, CaseIterable {
  case v12 = "1.2"
  case v13 = "1.3"
}

/// A cipher suite that can be named, as OpenSSL writes it. All are forward-secret.
public enum CipherSuite: String, Sendable, CaseIterable {
  case tls13AES128 = "TLS_AES_128_GCM_SHA256"
  case tls13AES256 = "TLS_AES_256_GCM_SHA384"
  case tls13ChaCha20 = "TLS_CHACHA20_POLY1305_SHA256"
  case ecdsaAES128 = "ECDHE-ECDSA-AES128-GCM-SHA256"
  case rsaAES128 = "ECDHE-RSA-AES128-GCM-SHA256"
  case ecdsaAES256 = "ECDHE-ECDSA-AES256-GCM-SHA384"
  case rsaAES256 = "ECDHE-RSA-AES256-GCM-SHA384"
  case ecdsaChaCha20 = "ECDHE-ECDSA-CHACHA20-POLY1305"
  case rsaChaCha20 = "ECDHE-RSA-CHACHA20-POLY1305"
  case ecdsaAES128CBC = "ECDHE-ECDSA-AES128-SHA256"
  case rsaAES128CBC = "ECDHE-RSA-AES128-SHA256"
  case ecdsaAES256CBC = "ECDHE-ECDSA-AES256-SHA384"
  case rsaAES256CBC = "ECDHE-RSA-AES256-SHA384"

  /// True if it authenticates what it encrypts in one step; the others were attacked for it (RFC 9325, section 4.2).
  public var isAuthenticated: Bool {
    switch self {
    case .ecdsaAES128CBC, .rsaAES128CBC, .ecdsaAES256CBC, .rsaAES256CBC: false
    default: true
    }
  }

  public var isOfTLS13: Bool { rawValue.hasPrefix("TLS_") }
}

/// TLS of a listener (`tls:` in `gateway.listeners`).
public struct ListenerTLS: Sendable {
  public enum ClientCertificate: String, Sendable, CaseIterable {
    /// Asked for; a client without one is served too.
    case request
    case require
  }

  /// At least one; the first is for names that none is for.
  public var certificates: [CertificateAndKey]
  public var minimumVersion = MinimumTLSVersion.v12
  /// Empty for the defaults, of each version.
  public var ciphers: [CipherSuite] = []
  /// Who may have issued clients' certificates; `nil`: none are asked for.
  public var clientAuthorities: CertificateChain?
  public var clientCertificate = ClientCertificate.require
  /// Milliseconds.
  public var handshakeTimeout = 10_000

  public init(certificates: [CertificateAndKey]) {
    self.certificates = certificates
  }

  public static let table = SettingTable<ListenerTLS>(
    "tls", "TLS of a listener.", alternatives: [["certificate", "private_key"], ["certificates"]],
    [
      .other(
        "certificate", .text("file name"), "PEM file with the certificate and the chain behind it",
        default: "none; required without `certificates`"),
      .other(
        "private_key", .text("file name"),
        "PEM file with its key, not encrypted; only the gateway's user should be able to read it",
        default: "none; required without `certificates`"),
      .other(
        "certificates", .list(.section("certificate"), least: 1),
        """
        More certificates. The name that a client asks for (SNI) chooses one by its subject alternative names; the \
        first certificate of all is for every other name
        """,
        default: "none"),
      .choice(
        "min_version", \.minimumVersion, "The oldest version that is accepted; 1.0 and 1.1 never are (RFC 8996)"),
      .other(
        "ciphers", .list(.choice(CipherSuite.allCases.map(\.rawValue))),
        "Cipher suites by OpenSSL's names, the preferred first; a version without any in the list keeps its defaults",
        default: "AES-GCM and ChaCha20-Poly1305 with ECDHE"),
      .other(
        "client_ca", .text("file name"), "PEM file with the authorities that may have issued clients' certificates",
        default: "none are asked for"),
      .choice(
        "client_certificate", \.clientCertificate,
        "The treatment of a client without a certificate: `require` refuses it"),
      .number(
        "handshake_timeout", \.handshakeTimeout, .duration(100...600_000), "The longest time of a handshake"),
    ]
  ) { ListenerTLS(certificates: []) }
}

/// TLS towards the upstream (`upstream.tls`).
public struct UpstreamTLS: Sendable {
  /// Who may have issued its certificate.
  public var authorities: CertificateChain
  /// The name or address that its certificate is for.
  public var serverName: String
  /// The gateway's own certificate, where the upstream asks for one.
  public var certificate: CertificateAndKey?
  public var minimumVersion: MinimumTLSVersion

  public init(
    authorities: CertificateChain, serverName: String, certificate: CertificateAndKey? = nil,
    minimumVersion: MinimumTLSVersion = .v12
  ) {
    self.authorities = authorities
    self.serverName = serverName
    self.certificate = certificate
    self.minimumVersion = minimumVersion
  }
}

/// `Strict-Transport-Security` on answers over TLS (RFC 6797).
public struct StrictTransport: Sendable, Equatable {
  /// Seconds.
  public var maxAge: Int
  public var includesSubdomains: Bool

  public static let table = SettingTable<StrictTransport>(
    "strict_transport_security", "The `Strict-Transport-Security` of answers over TLS (RFC 6797).",
    [
      .number(
        "max_age", \.maxAge, .seconds(0...87_600 * 3_600), "The time for which browsers keep it; `0s` ends it"),
      .flag("include_subdomains", \.includesSubdomains, "`true`: it holds for all subdomains too"),
    ]
  ) { StrictTransport() }

  /// A year, which is what lists of such hosts ask for at least.
  public init(maxAge: Int = 31_536_000, includesSubdomains: Bool = false) {
    self.maxAge = maxAge
    self.includesSubdomains = includesSubdomains
  }

  /// The value of the field (RFC 6797, section 6.1).
  public var fieldValue: String { "max-age=\(maxAge)" + (includesSubdomains ? "; includeSubDomains" : "") }
}
