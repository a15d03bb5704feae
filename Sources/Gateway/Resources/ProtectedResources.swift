internal import ByteText
import Cryptography
import HTTP
import OAuth
import Policy

/// The metadata documents of the resources on the gateway's origin (RFC 9728), by their paths. A resource on another
/// origin has its own document there.
struct ProtectedResources: Sendable {
  private static let wellKnownPath = "/.well-known/oauth-protected-resource"

  /// A document with its entity tag.
  private struct Document {
    let body: [UInt8]
    let tag: String
  }

  private let documents: [String: Document]

  /// Creates the documents of a policy: one for each identifier and alias of a resource.
  init(_ policy: Policy) {
    var documents: [String: Document] = [:]
    for resource in policy.resources.all {
      for name in resource.names {
        guard let path = ProtectedResources.path(of: name, policy), documents[path] == nil else { continue }
        let body = JSONValue.text(of: ProtectedResources.members(of: resource, named: name, policy))
        let tag = "\"" + String(decoding: Hex.encode(sha256(body)).utf8.prefix(32), as: UTF8.self) + "\""
        documents[path] = Document(body: body, tag: tag)
      }
    }
    self.documents = documents
  }

  /// Returns the paths of the documents of a policy, sorted.
  static func paths(_ policy: Policy) -> [String] {
    Set(policy.resources.all.flatMap(\.names).compactMap { path(of: $0, policy) }).sorted()
  }

  /// Returns the path of the metadata of a resource with this identifier (RFC 9728, section 3.1); `nil` if the resource
  /// is not on the gateway's origin, or if its path has characters that servers could read in different ways.
  static func path(of name: ResourceURI, _ policy: Policy) -> String? {
    let origin = policy.gateway.origin.description
    guard name.text.hasPrefix(origin) else { return nil }
    let path = String(name.text.dropFirst(origin.count))
    guard !path.isEmpty, path != "/" else { return wellKnownPath }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    let isPlain = path.utf8.allSatisfy { $0.isLetterOrDigit || "-._~/".utf8.contains($0) }
    guard path.hasPrefix("/"), isPlain, !segments.contains("."), !segments.contains(".."), !path.contains("//") else {
      return nil
    }
    return wellKnownPath + path
  }

  /// Returns the URL of the metadata of a resource; `nil` if the gateway does not serve it.
  static func address(of resource: Resource, _ policy: Policy) -> String? {
    path(of: resource.uri, policy).map { policy.gateway.origin.description + $0 }
  }

  private static func members(
    of resource: Resource, named name: ResourceURI, _ policy: Policy
  ) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "resource": .string(name.text), "authorization_servers": .array([.string(policy.gateway.issuer)]),
      "bearer_methods_supported": .array([.string("header")]),
    ]
    if !resource.scopes.isEmpty { members["scopes_supported"] = .array(resource.scopes.map { .string($0) }) }
    if let title = resource.name { members["resource_name"] = .string(title) }
    return members
  }

  /// Answers a request for a document. Programs in browsers may read it (CORS), because it contains no secret.
  func response(to request: Request) -> Response {
    guard let document = documents[String(request.path)] else { return Response(status: 404) }
    guard request.method == "GET" || request.method == "HEAD" else {
      return Response(status: 405, headers: ["Allow": "GET, HEAD"])
    }
    var headers: Headers = [
      "ETag": document.tag, "Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*",
      "X-Content-Type-Options": "nosniff",
    ]
    let knownTags = request.headers.all("If-None-Match").flatMap { $0.split(separator: ",") }
      .map { $0.trimmingSpaces }
    if knownTags.contains(where: { $0 == "*" || $0 == document.tag || $0 == "W/" + document.tag }) {
      return Response(status: 304, headers: headers)
    }
    headers.append("Content-Type", "application/json")
    return Response(status: 200, headers: headers, body: document.body)
  }
}

extension Substring {
  /// The text without spaces and tabs at its ends.
  fileprivate var trimmingSpaces: String {
    let bytes = self.utf8.drop { $0 == 0x20 || $0 == 0x09 }
    let end = bytes.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { bytes.index(after: $0) } ?? bytes.startIndex
    return String(Substring(bytes[..<end]))
  }
}
