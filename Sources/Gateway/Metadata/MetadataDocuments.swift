import JSON
import PathReading
import Policy
import Synchronization

/// Makes the gateway's metadata document from the policy and the upstream's document, and keeps the latest.
final class MetadataDocuments: Sendable {
  /// The settings of the upstream from which its document is read.
  let source: UpstreamMetadataCache.Source
  private let offered: OfferedCapabilities
  private let upstream: UpstreamSettings
  private let matcher: EndpointMatcher
  /// The document for the upstream's document with this number.
  private let latest = Mutex<(number: UInt64, document: PublicDocument)?>(nil)

  init(_ policy: Policy, _ matcher: EndpointMatcher) {
    offered = OfferedCapabilities(policy: policy)
    upstream = policy.upstream
    self.matcher = matcher
    source = UpstreamMetadataCache.Source(
      url: upstream.url, paths: upstream.endpoints.metadataCandidates,
      isConfigured: !upstream.endpoints.metadata.isEmpty)
  }

  /// Returns the gateway's document.
  ///
  /// - Parameter copy: The upstream's document, or the fact that the upstream has none.
  func document(for copy: UpstreamMetadataCache.Copy) -> PublicDocument {
    if let latest = latest.withLock({ $0 }), latest.number == copy.number { return latest.document }
    let document = PublicDocument(members(for: copy.document))
    latest.withLock { $0 = (copy.number, document) }
    return document
  }

  private func members(for document: UpstreamMetadata?) -> [String: JSONValue] {
    guard let document else { return offered.members() }
    let exposed = ExposedMetadata(
      document, gateway: offered.origin, upstream: upstream.origin, endpoints: upstream.endpoints
    ) { [matcher] in matcher.read(target: $0) == .notEndpoint }
    var members = exposed.members
    if offered.scopes?.isEmpty == true { members["scopes_supported"] = nil }
    if case .array(let scopes)? = members["scopes_supported"] {
      members["scopes_supported"] = .array(
        scopes.filter { $0.text.map { !offered.droppedScopes.contains($0) } ?? false })
    }
    return members.merging(offered.members(preferring: exposed.endpointPaths)) { _, own in own }
  }

  /// Returns true if the document was found at a path of its own choice and describes the server of the policy. A host
  /// may have the documents of several servers.
  func accepts(_ document: UpstreamMetadata) -> Bool {
    let endpoints = document.endpoints
    return source.isConfigured
      || endpoints["authorization_endpoint"].map { upstream.endpoints.authorization.contains($0.path) } ?? false
      || endpoints["token_endpoint"].map { upstream.endpoints.token.contains($0.path) } ?? false
  }
}
