import FoundationEssentials
import TLSTestSupport
import Testing
import Time

@testable import Cryptography

@Suite("Certificates and keys")
struct CertificateTests {
  @Test("A certificate gives its host names, strength and validity")
  func facts() throws {
    let gateway = try TestCertificates.chain("gateway")
    #expect(gateway.count == 1)
    #expect(gateway.hostNames == ["gw.example", "localhost"])
    #expect(gateway.securityBits == 128)
    // openssl x509 -in expired.pem -noout -dates
    #expect(try TestCertificates.chain("expired").validity == 1_577_836_800...1_609_459_200)
    #expect(try TestCertificates.chain("weak").securityBits < 112)
  }

  @Test("The fingerprint is the digest of the certificate in its file, and the subject is text")
  func description() throws {
    let gateway = try TestCertificates.chain("gateway")
    #expect(gateway.subject == "CN=gateway")
    let lines = String(decoding: try TestCertificates.bytes("gateway.pem"), as: UTF8.self).split(separator: "\n")
    let encoded = lines.filter { !$0.hasPrefix("-----") }.joined()
    let binary = try #require(Data(base64Encoded: encoded))
    let digest = sha256([UInt8](binary)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    #expect(gateway.fingerprint == digest.joined())
  }

  @Test("A chain keeps its order")
  func chain() throws {
    let pem = try TestCertificates.bytes("other.pem") + TestCertificates.bytes("server-ca.pem")
    let chain = try CertificateChain(pem: pem)
    #expect(chain.count == 2)
    #expect(chain.hostNames == ["other.example", "*.wild.example"])
    let parts = try [TestCertificates.chain("other"), TestCertificates.chain("server-ca")]
    #expect(chain.fingerprints == parts.flatMap(\.fingerprints))
  }

  @Test("A key belongs to its own certificate only")
  func keys() throws {
    let key = try TestCertificates.key("gateway")
    #expect(try TestCertificates.chain("gateway").belongs(to: key))
    #expect(try !TestCertificates.chain("other").belongs(to: key))
    #expect("\(key)" == "***")
  }

  @Test("Missing certificates, damaged certificates and encrypted keys give different errors")
  func problems() throws {
    #expect(throws: PEMError.notFound) { try CertificateChain(pem: Array("hello\n".utf8)) }
    #expect(throws: PEMError.notFound) { try CertificateChain(pem: []) }
    #expect(throws: PEMError.notFound) { try CertificateChain(pem: try TestCertificates.bytes("gateway.key")) }
    #expect(throws: PEMError.notFound) { try PrivateKey(pem: try TestCertificates.bytes("gateway.pem")) }
    #expect(throws: PEMError.encrypted) { try PrivateKey(pem: try TestCertificates.bytes("encrypted.key")) }
    let whole = try TestCertificates.bytes("gateway.pem")
    // A complete certificate does not hide a damaged one after it.
    #expect(throws: PEMError.malformed) { try CertificateChain(pem: whole + whole.dropLast(200)) }
    #expect(throws: PEMError.malformed) { try CertificateChain(pem: Array(whole.prefix(200))) }
  }
}
