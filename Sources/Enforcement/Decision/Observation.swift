public import OAuth
public import Policy

/// The mode that applies to a request (`I-observe`). An observed request is forwarded even if a rule refuses it.
extension Enforcement {
  /// Returns the mode of an authorization request.
  ///
  /// The result does not apply if the gateway can decrypt `state` as a state that it sealed. Such a request comes from
  /// a login or consent page of the upstream, and is always enforced.
  public static func mode(of request: AuthorizationRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(forClientIDs: Set(request.all(.clientID)), isUnambiguous: request.namesOneClient)
  }

  /// Returns the mode of a request at the token endpoint or at another endpoint that clients call.
  ///
  /// At the token endpoint, the result does not apply if the gateway can decrypt the code or refresh token: a client
  /// can only have got such a value from the gateway, so the request is always enforced. The same is true for a refresh
  /// token at the revocation endpoint.
  public static func mode(of request: TokenRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(forClientIDs: Set(request.namedClients), isUnambiguous: request.namesOneClient)
  }
}

extension AuthorizationRequest {
  /// True if every server finds the same single client id in the request.
  fileprivate var namesOneClient: Bool {
    problem == nil && !hasNonFormBody && all(.clientID).count == 1
      && sources.allSatisfy { $0.isUnambiguous(for: .atAuthorization) }
  }
}

extension TokenRequest {
  /// The client ids in the body and in the `Authorization` fields.
  fileprivate var namedClients: [String] { parameters.all(.clientID) + basicUsers }

  /// True if every server finds the same single client id in the request. The id may be repeated in the body, in
  /// `Authorization` and in a client assertion.
  fileprivate var namesOneClient: Bool {
    guard problem == nil, parameters.all(.clientID).count <= 1, parameters.isUnambiguous(for: names) else {
      return false
    }
    guard let authentication = try? clientAuthentication() else { return false }
    guard let assertion = parameters[.clientAssertion] else { return true }
    return ClientAssertion.isFor(authentication.clientID, assertion)
  }
}

extension FormParameters {
  /// True if no parameter of `known` occurs under a second spelling, and every name and value can be decoded.
  fileprivate func isUnambiguous(for known: ParameterNames) -> Bool {
    !hasMalformedName && namesWithMalformedValue.isEmpty && alternativeSpelling(of: known) == nil
  }
}
