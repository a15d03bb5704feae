internal import Bytes
import OAuth
import Policy

// Rules about what a login or consent page sends back to the authorization endpoint (`I-reentry`).

extension Rule where Context == ReentryContext {
  /// A body that is no form could hold what the server sees and the gateway does not.
  static var reentryReadable: Rule {
    Rule(name: "every OAuth parameter can be read") { context in
      if context.request.hasUnreadBody || context.request.problem == .tooManyParameters {
        return .refuse(.reentryBody)
      }
      for parameters in context.request.sources {
        if parameters.hasLookAlike || parameters.hasMalformedName {
          return .refuse(.parameterSpelling)
        }
        let malformed = parameters.malformedNames.compactMap { ParameterName($0) }
        if let parameter = malformed.first(where: { ParameterNames.atAuthorization.contains($0) }) {
          return .refuse(.parameterMalformed, .parameter(parameter.text))
        }
      }
      return .pass
    }
  }

  /// `I-completion`: a page of the upstream has no answer to send back; an open redirect there would make it one.
  static var reentryCarriesNoAnswer: Rule {
    Rule(name: "no answer with a code comes in the request") { context in
      let content = ReflectedCodeScanner(texts: context.request.texts)
      return content.containsResponse(to: context.addresses) ? .refuse(.codeReflectedFromRequest) : .pass
    }
  }

  /// `I-reentry`: each of these parameters is absent, empty (RFC 6749, section 3.1: empty means omitted) or equal to the
  /// value that went upstream, in every place where it occurs.
  static var reentryUnchanged: Rule {
    Rule(name: "what went upstream comes back as it went") { context in
      for (parameter, value) in context.sent where context.request.contains(parameter) {
        for found in context.request.all(parameter) where !found.utf8.span.isEqual(to: value.utf8.span) {
          return .refuse(.reentryChanged, .parameter(parameter.text))
        }
      }
      // What never goes upstream cannot come back from there.
      if let surplus = context.neverSent.intersection(context.request.given).sorted.first {
        return .refuse(.reentryChanged, .parameter(surplus.text))
      }
      return .pass
    }
  }
}

extension ReentryContext {
  /// The addresses to which an answer of this transaction, or of another one of its client, would go.
  fileprivate var addresses: [String] {
    [GatewaySettings.ownCallback, transaction.upstreamRedirectURI, transaction.redirectURI.text]
      + (client?.redirectURIs.map(\.text) ?? [])
  }
}

extension GatewaySettings {
  /// The path of the callback, which any spelling of the origin may precede.
  static var ownCallback: String { ownPath + "callback" }
}
