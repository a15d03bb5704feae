public import Cryptography
public import Time

/// A certificate chain and the private key of its first certificate.
public struct CertificateAndKey: Sendable {
  /// The certificate, followed by the certificates of its issuers.
  public let chain: CertificateChain
  /// The private key of the certificate.
  public let key: PrivateKey

  /// Creates a pair. The caller has checked that the key belongs to the certificate.
  public init(chain: CertificateChain, key: PrivateKey) {
    self.chain = chain
    self.key = key
  }
}

/// The oldest TLS version that the gateway accepts. The gateway never accepts versions before 1.2 (RFC 8996).
public enum MinimumTLSVersion: String, Sendable, CaseIterable {
  case v12 = "1.2"
  case v13 = "1.3"
}

/// A cipher suite that a policy may list, with its OpenSSL name. All of them have forward secrecy.
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

  /// True for a suite with authenticated encryption (AEAD). The other suites encrypt with CBC and authenticate in a
  /// separate step. There are known attacks on this construction (RFC 9325, section 4.2).
  public var isAEAD: Bool {
    switch self {
    case .ecdsaAES128CBC, .rsaAES128CBC, .ecdsaAES256CBC, .rsaAES256CBC: false
    default: true
    }
  }
}

/// The TLS settings of a listener (`tls:` in an item of `gateway.listeners`).
public struct ListenerTLS: Sendable {
  /// The treatment of a client without a certificate, if the listener requests one.
  public enum ClientCertificate: String, Sendable, CaseIterable {
    /// The gateway accepts the client.
    case request
    /// The handshake fails.
    case require
  }

  /// The certificates, at least one. The first one is used if the client sends no server name, or one that no
  /// certificate contains.
  public var certificates: [CertificateAndKey]
  /// The oldest version that the gateway accepts from a client. Default: 1.2.
  public var minimumVersion = MinimumTLSVersion.v12
  /// The cipher suites, in order of preference. If the list contains no suite of a TLS version, the gateway uses the
  /// default suites of this version.
  public var ciphers: [CipherSuite] = []
  /// The authorities that issue client certificates; `nil` if the gateway requests no client certificate.
  public var clientAuthorities: CertificateChain?
  /// The treatment of a client without a certificate. Default: the handshake fails.
  public var clientCertificate = ClientCertificate.require
  /// The maximum time of a handshake. Default: 10 s.
  public var handshakeTimeout: Milliseconds = 10_000

  /// Creates settings with these certificates. The other properties have their defaults.
  public init(certificates: [CertificateAndKey]) {
    self.certificates = certificates
  }

  /// The settings of `tls:` in an item of `listeners:`.
  public static let table = SettingTable<ListenerTLS>(
    "tls", "TLS of a listener.", alternativeRequiredKeys: [["certificate", "private_key"], ["certificates"]],
    [
      .customReader(
        "certificate", .text("file name"), "PEM file with the certificate and the chain behind it",
        default: "none; required without `certificates`"),
      .customReader(
        "private_key", .text("file name"),
        "PEM file with its key, not encrypted; only the gateway's user should be able to read it",
        default: "none; required without `certificates`"),
      .customReader(
        "certificates", .list(.section("certificate"), minimumCount: 1),
        """
        Certificates, in addition to `certificate` or instead of it. The gateway chooses the one whose subject \
        alternative names match the server name that the client sends (SNI); if no names match, it uses `certificate`, \
        or else the first of this list
        """,
        default: "none"),
      .choice(
        "min_version", \.minimumVersion,
        "The oldest version that the gateway accepts; it never accepts 1.0 and 1.1 (RFC 8996)"),
      .customReader(
        "ciphers", .list(.choice(CipherSuite.allCases.map(\.rawValue))),
        """
        Cipher suites by their OpenSSL names, in order of preference; a version of TLS without a suite in the list \
        uses its defaults
        """,
        default: "AES-GCM and ChaCha20-Poly1305 with ECDHE"),
      .customReader(
        "client_ca", .text("file name"), "PEM file with the authorities that issue client certificates",
        default: "no client certificate is requested"),
      .choice(
        "client_certificate", \.clientCertificate,
        "The treatment of a client without a certificate: `request` accepts it, `require` refuses it"),
      .duration(
        "handshake_timeout", \.handshakeTimeout, 100...600_000, "The longest time of a handshake"),
    ]
  ) { ListenerTLS(certificates: []) }
}

/// The TLS settings for connections to the upstream (`upstream.tls`).
public struct UpstreamTLS: Sendable {
  /// The authorities that may issue the upstream's certificate. No others are trusted.
  public var authorities: CertificateChain
  /// The host name or address that the upstream's certificate must contain. A host name is also sent as SNI.
  public var serverName: String
  /// The certificate that the gateway presents if the upstream requests one; `nil` for none.
  public var certificate: CertificateAndKey?
  /// The oldest version that the gateway accepts from the upstream. Default: 1.2.
  public var minimumVersion: MinimumTLSVersion

  /// Creates settings, by default for TLS 1.2 or later, and without a certificate of the gateway.
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

/// The `Strict-Transport-Security` field of responses over TLS (RFC 6797).
public struct StrictTransport: Sendable, Equatable {
  /// The time for which a browser uses only https for the host. With 0, the browser forgets the host. Default: a year.
  public var maxAge: Seconds
  /// True if the field also applies to all subdomains. Default: false.
  public var includesSubdomains: Bool

  /// The longest `max_age` that a policy may set: ten years.
  private static let longestMaxAge: Seconds = 10 * 365 * 86_400

  /// The settings of `strict_transport_security:`.
  public static let table = SettingTable<StrictTransport>(
    "strict_transport_security", "The `Strict-Transport-Security` of responses over TLS (RFC 6797).",
    [
      .seconds(
        "max_age", \.maxAge, 0...longestMaxAge,
        "The time for which browsers remember the field; `0s` makes them forget it"),
      .flag("include_subdomains", \.includesSubdomains, "`true`: the field also applies to all subdomains"),
    ]
  ) { StrictTransport() }

  /// Creates a field. The default is a year, the minimum that the preload lists of browsers require.
  public init(maxAge: Seconds = 31_536_000, includesSubdomains: Bool = false) {
    self.maxAge = maxAge
    self.includesSubdomains = includesSubdomains
  }

  /// The value of the field (RFC 6797, section 6.1).
  public var fieldValue: String { "max-age=\(maxAge.count)" + (includesSubdomains ? "; includeSubDomains" : "") }
}
