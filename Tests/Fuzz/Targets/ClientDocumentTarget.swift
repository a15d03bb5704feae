import ClientDocuments
import FoundationEssentials
import OAuth

/// Input: a client ID metadata document. An accepted one reads the same to Foundation, as far as the gateway uses it.
enum ClientDocumentTarget {
  private struct Members: Decodable {
    var clientID: String
    var name: String?
    var redirectURIs: [String]
    var authenticationMethod: String?

    enum CodingKeys: String, CodingKey {
      case clientID = "client_id"
      case name = "client_name"
      case redirectURIs = "redirect_uris"
      case authenticationMethod = "token_endpoint_auth_method"
    }
  }

  static func check(_ input: [UInt8]) throws(Violation) {
    guard let url = ClientDocumentURL(parsing: "https://app.example/c"),
      let metadata = try? ClientDocument.metadata(in: input, at: url)
    else { return }
    try Violation.unless(input.count <= ClientDocument.maximumLength, "a long document was accepted")
    guard let members = try? JSONDecoder().decode(Members.self, from: Data(input)) else {
      throw Violation("Foundation does not read the document")
    }
    try Violation.unless(members.clientID == url.text, "the document of another client")
    try Violation.unless(members.name == metadata.name, "another name")
    try Violation.unless(members.authenticationMethod ?? "none" == "none", "a client that authenticates")
    try Violation.unless(!metadata.redirectURIs.isEmpty, "no redirect URI")
    try Violation.unless(
      metadata.redirectURIs.allSatisfy { members.redirectURIs.contains($0.text) }, "an invented redirect URI")
  }
}
