import Cryptography
import TLSTestSupport
import Testing

@testable import TLS

@Suite("TLS servers")
struct TLSServerTests {
  @Test("Our preferred protocol is chosen, and nothing from a list that is cut off")
  func protocols() throws {
    let server = try TestCertificates.server { $0.applicationProtocols = ["h2", "http/1.1"] }
    func list(_ names: String...) -> [UInt8] { names.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } }
    #expect(server.choose(from: list("http/1.1", "h2")) == 10..<12)
    #expect(server.choose(from: list("http/1.0", "http/1.1")) == 10..<18)
    #expect(server.choose(from: list("imap")) == nil)
    #expect(server.choose(from: []) == nil)
    #expect(server.choose(from: [3, 0x68, 0x32]) == nil)
  }

  @Test("A wildcard stands for one label, and the first certificate for all other names")
  func names() throws {
    let server = try TestCertificates.server(["gateway", "other"])
    let other = server.context(for: "other.example")
    #expect(other !== server.context)
    #expect(server.context(for: "x.WILD.example") === other)
    for name in ["gw.example", "wild.example", "a.b.wild.example", "", "."] {
      #expect(server.context(for: name) === server.context, "\(name)")
    }
  }

  @Test("What cannot serve is an error with words")
  func unusable() throws {
    #expect(throws: TLSError.self) { try TestCertificates.server(["weak"]) }
    #expect(throws: TLSError.self) { try TestCertificates.server { $0.ciphers = ["NONE"] } }
    #expect(throws: TLSError.self) {
      try TestCertificates.server { $0.identities = [try TestCertificates.identity("gateway", key: "client")] }
    }
    #expect(throws: TLSError.self) { try TestCertificates.server { $0.identities = [] } }
  }
}
