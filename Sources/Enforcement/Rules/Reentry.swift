internal import ByteText
import OAuth
import Policy

// Rules on a re-entry (invariant `I-reentry`): a request that a login or consent page of the upstream sends to the
// authorization endpoint, with the sealed state. A re-entry that passes is forwarded unchanged.

extension Rule where Context == ReentryContext {
  /// The gateway compares only parameters that it can read. The upstream could read others: in a body that is not a
  /// form, among too many parameters, under a name that some server maps to an OAuth parameter, or with a value that
  /// cannot be decoded.
  static var reentryReadable: Rule {
    Rule(name: "every OAuth parameter can be read") { context in
      if context.request.hasNonFormBody || context.request.defect == .tooManyParameters {
        return .refuse(.reentryBodyUnreadable)
      }
      for parameters in context.request.parameterSources {
        if parameters.hasLookalikeName || parameters.hasMalformedName {
          return .refuse(.parameterSpelling)
        }
        let malformed = parameters.namesWithMalformedValue.compactMap { ParameterName($0) }
        if let parameter = malformed.first(where: { ParameterNames.atAuthorization.contains($0) }) {
          return .refuse(.parameterMalformed, .parameter(parameter.text))
        }
      }
      return .pass
    }
  }

  /// A page of the upstream has no reason to send an authorization response with a code. If a re-entry contains one, an
  /// open redirect of the upstream could send this response to the client as a real one (invariant `I-completion`).
  static var reentryContainsNoResponse: Rule {
    Rule(name: "the request contains no response with a code", source: "invariant I-completion") { context in
      let content = ReflectedCodeScanner(texts: context.request.queryAndBody)
      return content.containsResponse(to: context.addresses) ? .refuse(.codeReflectedFromRequest) : .pass
    }
  }

  /// All values of a parameter, in the query and in the body, must equal the value that was sent upstream. A parameter
  /// may also be absent or empty, because an empty one counts as omitted (RFC 6749, section 3.1; invariant
  /// `I-reentry`).
  static var reentryUnchanged: Rule {
    Rule(name: "the parameters that went upstream come back unchanged", source: "RFC 6749, section 3.1") { context in
      for (parameter, value) in context.expectedValues where context.request.contains(parameter) {
        for found in context.request.all(parameter) where !found.utf8.span.isEqual(to: value.utf8.span) {
          return .refuse(.reentryChanged, .parameter(parameter.text))
        }
      }
      // The upstream got none of these parameters, so its page has no value to send back.
      if let surplus = context.unexpectedParameters.intersection(context.request.parametersWithValue).sorted.first {
        return .refuse(.reentryChanged, .parameter(surplus.text))
      }
      return .pass
    }
  }

  /// Without `scope`, the upstream may grant more than was requested (RFC 6749, section 3.3). The same is true of the
  /// resource and the audience, and without its challenge a code is not bound to the sign-in. So a link with the request
  /// must have all of them. A link with the state alone continues a request that the upstream has stored.
  static var reentryLinkComplete: Rule {
    Rule(name: "a link has the parameters that limit the tokens", source: "RFC 6749, section 3.3") { context in
      let present = context.request.parametersWithValue
      guard context.request.isLink, !present.isDisjoint(with: ParameterNames(.clientID, .responseType)) else {
        return .pass
      }
      guard let missing = context.requiredInLink.subtracting(present).sorted.first else { return .pass }
      return .refuse(.reentryChanged, .parameter(missing.text))
    }
  }
}

extension ReentryContext {
  /// The addresses to which the upstream or the gateway may send an authorization response for the client of this
  /// transaction, without their queries: a response may have other parameters in front of the query of its address.
  fileprivate var addresses: [String] {
    let redirectURIs = [transaction.upstreamRedirectURI, transaction.redirectURI.text]
    return [GatewaySettings.callbackPath]
      + (redirectURIs + (client?.redirectURIs.map(\.text) ?? [])).map { uri in
        String(decoding: uri.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
      }
  }
}

extension GatewaySettings {
  /// The path of the gateway's callback. Texts of requests are searched for this path and not for the complete URL,
  /// because the origin in a URL can be written in several ways.
  static var callbackPath: String { ownPath + "callback" }
}
