import Gateway
import JSON
import Policy

extension Probe {
  /// The maximum number of well-known paths of folders above the endpoints.
  private static let maximumLateCandidates = 6

  /// Reads the metadata documents at the well-known paths of the URL.
  func readMetadata() async throws(ProbeStop) {
    let issuer = options.target.folder
    var paths = [issuer + "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server" + issuer]
    if !issuer.isEmpty {
      paths += ["/.well-known/openid-configuration" + issuer, issuer + "/.well-known/oauth-authorization-server"]
    }
    for path in paths { try await readDocument(path) }
  }

  /// Reads the documents of the folders above the endpoints, if none has been found yet.
  func readLateMetadata() async throws(ProbeStop) {
    guard observations.documents.isEmpty else { return }
    let paths = EndpointPaths(
      authorization: [observations.authorization?.path].compactMap(\.self),
      token: [observations.token?.path].compactMap(\.self))
    for path in paths.metadataCandidates.dropFirst(2).prefix(Probe.maximumLateCandidates) {
      try await readDocument(path)
      if !observations.documents.isEmpty { return }
    }
  }

  private func readDocument(_ path: String) async throws(ProbeStop) {
    guard case .success(let answer) = try await session.ask(ProbeRequest(.get, path)), answer.status == 200,
      let document = UpstreamMetadata(parsing: answer.body)
    else { return }
    observations.documents.append(path)
    // The document of OpenID Connect is read first and says more; a second one only fills gaps.
    if observations.issuer == .noDocument { observations.issuer = UpstreamIssuer(document) }
    observations.announcedMethods =
      observations.announcedMethods ?? Probe.texts(document, "code_challenge_methods_supported")
    let endpoints = [
      (\Observations.authorization, "authorization_endpoint"), (\.token, "token_endpoint"),
      (\.revocation, "revocation_endpoint"), (\.introspection, "introspection_endpoint"),
      (\.deviceAuthorization, "device_authorization_endpoint"),
      (\.pushedAuthorization, "pushed_authorization_request_endpoint"), (\.registration, "registration_endpoint"),
    ]
    for (property, name) in endpoints where observations[keyPath: property] == nil {
      guard let url = document.members[name]?.text.flatMap({ MetadataURL(parsing: $0) }),
        Word.path(url.path) == url.path
      else { continue }
      if url.origin != origin { observations.documentHost = url.origin.description }
      observations[keyPath: property] = .init(path: url.path, source: .document, isConfirmed: false)
    }
  }

  private static func texts(_ document: UpstreamMetadata, _ name: String) -> [String]? {
    guard case .array(let values)? = document.members[name] else { return nil }
    return values.compactMap(\.text)
  }
}
