import Policy

/// The result of a probe, as findings in the order of the report.
package struct ProbeReport: Sendable {
  package let options: ProbeOptions
  package let observations: Observations
  /// The number of requests that were sent.
  package let sent: Int
  package let stop: ProbeStop?
  /// The issuer of the gateway, for the comparison with the ID tokens; `nil` if the operator names no gateway.
  package let gatewayIssuer: String?
  /// The name of the operator's file with the authorities of the server; `nil` for those of the machine.
  package var authorities: String?

  package init(_ probe: Probe, gatewayIssuer: String? = nil, authorities: String? = nil) {
    options = probe.options
    observations = probe.observations
    sent = probe.session.sent
    stop = probe.stop
    self.gatewayIssuer = gatewayIssuer
    self.authorities = authorities
  }

  /// True if the server has at least one endpoint of OAuth.
  package var isOAuthServer: Bool {
    observations.token?.isConfirmed == true || observations.authorization?.isConfirmed == true
      || !observations.documents.isEmpty
  }

  /// All findings.
  package var findings: [Finding] {
    metadataFindings + endpointFindings + authorizationFindings + tokenFindings + signInFindings + hostFindings
      + gatewayFindings
  }

  /// The reason why a question about an authorization request of the operator's client has no answer.
  var authorizationGap: String {
    if observations.authorization == nil {
      return "no authorization endpoint was found; name it with `--authorization`"
    }
    guard options.clientID != nil, options.redirectURI != nil else {
      return observations.unknownClient?.isAccepted == true
        ? "the server asks for the login first: needs `--client-id`, `--redirect-uri` and `--sign-in`"
        : "needs `--client-id` and `--redirect-uri`"
    }
    if let known = observations.knownClient, !known.isAccepted {
      return "the server refused the request of the client; check `--client-id` and `--redirect-uri`"
    }
    if observations.signIn?.codeLength != nil {
      return "the server shows it only after the login, and one sign-in cannot"
    }
    if observations.validation == .afterLogin { return "the server asks for the login first; use `--sign-in`" }
    return stop.map { _ in "the probe ended early" } ?? "the answer of the server is not clear"
  }

  /// The reason why a question about token requests has no answer.
  var tokenGap: String {
    if observations.token == nil { return "no token endpoint was found; name it with `--token`" }
    guard options.clientID != nil else { return "needs `--client-id`, and `--client-secret-file` if it has a secret" }
    if stop != nil { return "the probe ended early" }
    return "no method of client authentication was found to work"
  }
}
