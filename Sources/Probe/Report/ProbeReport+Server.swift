import Gateway

extension ProbeReport {
  var metadataFindings: [Finding] {
    guard !observations.documents.isEmpty else {
      guard stop == nil || observations.unknownClient != nil else {
        return [.open(.metadata, "documents", "documents", "the probe ended early")]
      }
      return [
        .found(
          .metadata, "documents", "documents", "none", "none at the well-known paths", .likely,
          advice: "no action: the gateway serves its own document")
      ]
    }
    var findings: [Finding] = [
      .found(
        .metadata, "documents", "documents", observations.documents.joined(separator: " "),
        observations.documents.map { "`\(Word.path($0))`" }.joined(separator: ", "))
    ]
    if let host = observations.documentHost {
      findings.append(
        .found(
          .metadata, "document_host", "its URLs", host,
          "begin with `\(host)`; their paths are taken for those of the server", .likely,
          advice: "set the public address of the server to the origin of the gateway (docs/legacy-server.md)"))
    }
    switch observations.issuer {
    case .noDocument, .irrelevant:
      findings.append(.found(.metadata, "issuer", "issuer", "irrelevant", "the document announces no ID tokens"))
    case .idTokens(let issuer):
      let isPrintable = Word.path(issuer) == issuer
      let conflict = gatewayIssuer.flatMap { observations.issuer.conflict(with: $0) }
      findings.append(
        .found(
          .metadata, "issuer", "issuer", isPrintable ? issuer : "unprintable",
          "ID tokens name `\(isPrintable ? issuer : "another text")`",
          advice: conflict ?? "set `gateway.issuer` to the same text, because clients compare both",
          isWarning: conflict != nil))
    }
    if let issuer = observations.signIn?.idTokenIssuer, case .idTokens(let announced) = observations.issuer,
      issuer != announced
    {
      findings.append(
        .found(
          .metadata, "issuer_of_token", "issuer of the ID token", "differs",
          "the ID token of the sign-in names another issuer than the document",
          advice: "correct the server: clients refuse these tokens", isWarning: true))
    }
    return findings
  }

  var endpointFindings: [Finding] {
    let required = [
      ("authorization", observations.authorization, "--authorization"), ("token", observations.token, "--token"),
    ].map { name, endpoint, option in
      endpoint.map { finding(name, $0) }
        ?? .open(
          .endpoints, name, name,
          stop == nil
            ? "none at the paths of known servers; name it with `\(option)`"
            : "the probe ended early; name it with `\(option)`")
    }
    let others = [
      ("revocation", observations.revocation), ("introspection", observations.introspection),
      ("device authorization", observations.deviceAuthorization),
      ("pushed authorization", observations.pushedAuthorization), ("registration", observations.registration),
    ]
    return required + others.compactMap { name, endpoint in endpoint.map { finding(name, $0) } }
  }

  private func finding(_ name: String, _ endpoint: Observations.Endpoint) -> Finding {
    let source =
      switch endpoint.source {
      case .document: "named by the document"
      case .option: "named by you"
      case .search: "a path of a known server"
      }
    let isCore = name == "authorization" || name == "token"
    let answer = endpoint.isConfirmed ? ", answers like one" : isCore ? ", does not answer like one" : ""
    return .found(
      .endpoints, name.replacing(" ", with: "_"), name, endpoint.path,
      "`\(Word.path(endpoint.path))` (\(source)\(answer))",
      endpoint.isConfirmed ? .certain : .likely,
      advice: isCore && !endpoint.isConfirmed ? "compare the path with the manual of the server" : nil,
      isWarning: isCore && !endpoint.isConfirmed)
  }
}
