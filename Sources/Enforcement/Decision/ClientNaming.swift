import OAuth
internal import PathReading
import Policy

// A request is observed only if every server finds the same single client in it (invariant `I-observe`). A server may
// read the query, the body or both, and may take the first or the last value of a parameter. So the query and the body
// are examined alike, and each may name the client once. It does not matter whether the endpoint accepts the request:
// a login or consent form of the server posts to the URL of its page and so has parameters in both, and an old server
// accepts a token request by GET.

extension AuthorizationRequest {
  /// True if every server that finds a client id in the request finds the same one.
  var namesOneClient: Bool {
    guard defect != .tooManyParameters, !hasNonFormBody, all(.clientID).allSatisfy(Client.isIdentifier) else {
      return false
    }
    // A request object may name another client (RFC 9101, section 4). If the query and the body both have parameters, a
    // server could read the client id in one of them and the request object in the other.
    let hasRequestObject = !parametersWithValue.isDisjoint(with: .requestObjects)
    if hasRequestObject, parameterSources.allSatisfy({ !$0.parametersWithValue.isDisjoint(with: .atAuthorization) }) {
      return false
    }
    return parameterSources.allSatisfy { $0.namesAtMostOneClient(defined: .atReentry, spelled: .identifyingSignIn) }
  }
}

extension TokenRequest {
  /// True if every server that finds a client id in the request finds the same one. The query, the body,
  /// `Authorization` and each client assertion may contain this id once.
  var namesOneClient: Bool {
    guard isReadable, authorizationIsReadable, let id = namedClients.first,
      namedClients.allSatisfy(Client.isIdentifier),
      parameterSources.allSatisfy({ $0.namesAtMostOneClient(defined: definedParameters, spelled: definedParameters) })
    else { return false }
    return all(.clientAssertion).allSatisfy { ClientAssertion.identifiesClient(ClientID(id), in: $0) }
  }
}

extension FormParameters {
  /// Returns true if no server can find more than one client id here: `client_id` occurs at most once, every name can
  /// be decoded, and so can the value of every parameter in `defined`, and no server takes another name for that of a
  /// parameter in `spelled`.
  ///
  /// The value of any other name may be any bytes, such as a password that is not UTF-8.
  fileprivate func namesAtMostOneClient(defined: ParameterNames, spelled: ParameterNames) -> Bool {
    !hasMalformedName && all(.clientID).count <= 1
      && namesWithMalformedValue.allSatisfy { !defined.contains(ParameterName($0)) }
      && alternativeSpelling(of: spelled, foldToASCII: LenientDecoding.folded) == nil
  }
}

extension ParameterNames {
  /// The parameters by which a server identifies the client of an authorization request, the sign-in, or the receiver
  /// of the response. Another spelling of any other parameter, such as `scope[]` in a consent form, names no client.
  fileprivate static let identifyingSignIn: ParameterNames = [
    ParameterNames(.clientID, .redirectURI, .state), requestObjects,
  ]
}
