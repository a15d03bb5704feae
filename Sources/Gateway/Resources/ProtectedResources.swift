internal import ByteText
import HTTP
import JSON
import OAuth
import Policy
import Time

/// The metadata documents of the resources on the gateway's origin (RFC 9728), by their paths. A resource on another
/// origin has its own document there.
struct ProtectedResources: Sendable {
  /// The time for which clients may keep a document.
  private static let lifetime: Seconds = 300
  /// The first segments of the paths of such documents (RFC 9728, section 3.1).
  static let wellKnownPath = "/.well-known/oauth-protected-resource"

  private let documents: [String: PublicDocument]

  /// Creates the documents of a policy: one for each identifier and alias of a resource.
  init(_ policy: Policy) {
    var documents: [String: PublicDocument] = [:]
    for resource in policy.resources.all {
      for name in resource.names {
        guard let path = ProtectedResources.path(of: name, policy), documents[path] == nil else { continue }
        documents[path] = PublicDocument(ProtectedResources.members(of: resource, named: name, policy))
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
      "scopes_supported": .array(resource.scopes.map(JSONValue.string)),
    ]
    if let title = resource.name { members["resource_name"] = .string(title) }
    return members
  }

  /// Answers a request for a document.
  func response(to intercepted: InterceptedRequest) -> Response {
    guard let document = documents[String(intercepted.request.path)] else { return Response(status: 404) }
    return PublicDocument.responseToOtherMethod(intercepted)
      ?? document.response(to: intercepted.request, lifetime: ProtectedResources.lifetime)
  }
}
