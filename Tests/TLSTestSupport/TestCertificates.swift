public import Cryptography
import FoundationEssentials
public import TLS

/// The certificates of `Tests/Certificates`; the script `make` there generates them.
///
/// | name | purpose |
/// |---|---|
/// | gateway | for gw.example, localhost and 127.0.0.1, by server-ca |
/// | other | for other.example and *.wild.example, by server-ca, with an RSA key |
/// | expired | like gateway and with its key, but expired in 2021 |
/// | alone | for localhost and 127.0.0.1, self-signed |
/// | client | of a client, by client-ca |
/// | stranger | of a client, by server-ca |
/// | weak | with a 1024-bit RSA key |
public enum TestCertificates {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Certificates")

  /// The path of a file, for example `gateway.pem` or `gateway.key`.
  public static func path(_ file: String) -> String { folder.appendingPathComponent(file).path }

  /// The content of a file. Throws if it cannot be read.
  public static func bytes(_ file: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: URL(fileURLWithPath: path(file))))
  }

  /// The certificates of `NAME.pem`. Throws `PEMError`, or an error of the file system.
  public static func chain(_ name: String) throws -> CertificateChain {
    try CertificateChain(pem: try bytes("\(name).pem"))
  }

  /// The private key of `NAME.key`. Throws `PEMError`, or an error of the file system.
  public static func key(_ name: String) throws -> PrivateKey { try PrivateKey(pem: try bytes("\(name).key")) }

  /// The certificates of `name` with the private key of `key`, which by default has the same name.
  public static func identity(_ name: String, key: String? = nil) throws -> TLSIdentity {
    TLSIdentity(try chain(name), try self.key(key ?? name))
  }

  /// A server with these certificates.
  public static func server(
    _ names: [String] = ["gateway"], tickets: TicketKeys = TicketKeys(),
    _ adjust: (inout TLSServerSettings) throws -> Void = { _ in }
  ) throws -> TLSServer {
    var settings = TLSServerSettings(
      identities: try names.map { try identity($0, key: $0 == "expired" ? "gateway" : $0) })
    try adjust(&settings)
    return try TLSServer(settings, tickets: tickets)
  }

  /// A client that trusts server-ca.
  public static func client(
    _ name: String = "gw.example", authority: String = "server-ca", identity: String? = nil,
    from minimum: TLSVersion = .v12, to maximum: TLSVersion = .v13, protocols: [String] = ["http/1.1"]
  ) throws -> TLSClient {
    try TLSClient(
      name: name, authorities: try chain(authority), identity: try identity.map { try self.identity($0) },
      minimumVersion: minimum, maximumVersion: maximum, applicationProtocols: protocols)
  }
}
