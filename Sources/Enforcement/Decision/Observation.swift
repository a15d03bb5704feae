public import OAuth
public import Policy

/// The mode that applies to a request (`I-observe`).
extension Enforcement {
  /// Returns the mode of an authorization request.
  ///
  /// Callers do not use this for a request whose `state` opens as a sealed one: a re-entry is always enforced.
  public static func mode(of request: AuthorizationRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(naming: Set(request.all(.clientID)), isReadable: request.namesOneClient)
  }

  /// Returns the mode of a request at the token endpoint or at another endpoint that clients call.
  ///
  /// Callers do not use this for a request with a code or refresh token that opens as a sealed one: it is enforced in
  /// every mode, because an app can only get such a value from the gateway.
  public static func mode(of request: TokenRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(naming: Set(request.namedClients), isReadable: request.namesOneClient)
  }
}

extension AuthorizationRequest {
  /// True if every server finds the same client id in the request.
  fileprivate var namesOneClient: Bool {
    problem == nil && !hasUnreadBody && all(.clientID).count == 1
      && sources.allSatisfy { $0.meansOneThing(at: .atAuthorization) }
  }
}

extension TokenRequest {
  /// The client ids in the body and in `Authorization`.
  fileprivate var namedClients: [String] { parameters.all(.clientID) + basicUsers }

  /// True if every server finds the same client id in the request. The id may occur in both the body and
  /// `Authorization`.
  fileprivate var namesOneClient: Bool {
    guard problem == nil, parameters.all(.clientID).count <= 1, parameters.meansOneThing(at: names) else {
      return false
    }
    guard let read = try? clientAuthentication() else { return false }
    guard let assertion = parameters[.clientAssertion] else { return true }
    return ClientAssertion.isFor(read.clientID, assertion)
  }
}

extension FormParameters {
  /// True if each known name has only its own spelling and each value can be decoded.
  fileprivate func meansOneThing(at known: ParameterNames) -> Bool {
    !hasMalformedName && malformedNames.isEmpty && secondRepresentation(of: known) == nil
  }
}
