import Cryptography
import TLSTestSupport
import Testing

@testable import TLS

@Suite("TLS servers")
struct TLSServerTests {
  @Test("The server's preferred protocol is chosen, and none from a truncated list")
  func protocols() throws {
    let server = try TestCertificates.server { $0.applicationProtocols = ["h2", "http/1.1"] }
    func list(_ names: String...) -> [UInt8] { names.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } }
    #expect(server.selectProtocol(from: list("http/1.1", "h2")) == 10..<12)
    #expect(server.selectProtocol(from: list("http/1.0", "http/1.1")) == 10..<18)
    #expect(server.selectProtocol(from: list("imap")) == nil)
    #expect(server.selectProtocol(from: []) == nil)
    #expect(server.selectProtocol(from: [3, 0x68, 0x32]) == nil)
  }

  @Test("A wildcard matches one label, and the first certificate serves all other names")
  func names() throws {
    let server = try TestCertificates.server(["gateway", "other"])
    let other = server.context(for: "other.example")
    #expect(other !== server.context)
    #expect(server.context(for: "x.WILD.example") === other)
    for name in ["gw.example", "wild.example", "a.b.wild.example", "", "."] {
      #expect(server.context(for: name) === server.context, "\(name)")
    }
  }

  @Test("Unusable settings are an error with a reason")
  func unusable() throws {
    #expect(throws: TLSError.self) { try TestCertificates.server(["weak"]) }
    #expect(throws: TLSError.self) { try TestCertificates.server { $0.ciphers = ["NONE"] } }
    #expect(throws: TLSError.self) {
      try TestCertificates.server { $0.identities = [try TestCertificates.identity("gateway", key: "client")] }
    }
    #expect(throws: TLSError.self) { try TestCertificates.server { $0.identities = [] } }
  }
}
