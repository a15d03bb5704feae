import FoundationEssentials
import OAuth

@testable import ClientDocuments

/// Input: a client ID metadata document, the value of `Cache-Control`, or the URL of a document. An accepted document
/// reads the same to Foundation, as far as the gateway uses it. A lifetime is within its bounds, and a URL has one
/// spelling.
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
    if let text = String(validating: input, as: UTF8.self) {
      let lifetime = DocumentLifetime.lifetime(cacheControl: [text])
      try Violation.unless(
        (DocumentLifetime.minimum...DocumentLifetime.maximum).contains(lifetime), "a lifetime out of bounds")
      if let url = ClientDocumentURL(parsing: text) { try check(url) }
    }
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

  private static func check(_ url: ClientDocumentURL) throws(Violation) {
    try Violation.unless(url.text == "https://\(url.authority)\(url.path)", "a URL with two spellings")
    try Violation.unless(url.host == url.host.lowercased() && !url.host.isEmpty, "a host with two spellings")
    try Violation.unless((1...65_535).contains(url.port) && url.path.hasPrefix("/"), "no server or no path")
    let segments = url.path.split(separator: "/", omittingEmptySubsequences: false)
    try Violation.unless(!segments.contains(".") && !segments.contains(".."), "a dot segment")
  }
}
