public import OAuth
public import Policy

/// The mode that applies to a request (`I-observe`).
extension Enforcement {
  /// Returns the mode of an authorization request.
  ///
  /// A request whose `state` opens as one of the gateway's is re-entry. Its caller does not ask.
  public static func mode(of request: AuthorizationRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(naming: Set(request.all(.clientID)), isReadable: request.namesOneClient)
  }

  /// Returns the mode of a request at the token endpoint, or at another one that clients call.
  ///
  /// A request with a value that opens as one of the gateway's (code, refresh token) is enforced whatever its client's
  /// mode: an app without the gateway cannot have such a value. The caller knows and does not ask.
  public static func mode(of request: TokenRequest, policy: Policy) -> EnforcementMode {
    guard policy.isObserving else { return .enforce }
    return policy.mode(naming: Set(request.namedClients), isReadable: request.namesOneClient)
  }
}

extension AuthorizationRequest {
  /// True if each server finds the same client id in the request.
  fileprivate var namesOneClient: Bool {
    problem == nil && !hasUnreadBody && all(.clientID).count == 1
      && sources.allSatisfy { $0.meansOneThing(at: .atAuthorization) }
  }
}

extension TokenRequest {
  /// The client ids in the body and in `Authorization`.
  fileprivate var namedClients: [String] { parameters.all(.clientID) + basicUsers }

  /// True if each server finds the same client id in the request. It may occur in the body and in `Authorization`.
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
  /// True if each name of `known` has one spelling and each value can be decoded.
  fileprivate func meansOneThing(at known: ParameterNames) -> Bool {
    !hasMalformedName && malformedNames.isEmpty && secondRepresentation(of: known) == nil
  }
}
