internal import Bytes
import OAuth
import Policy

// Rules on the requests that login and consent pages send to the authorization endpoint (`I-reentry`).

extension Rule where Context == ReentryContext {
  /// A body that is not a form could contain parameters that the upstream reads and the gateway does not.
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

  /// `I-completion`: an upstream page has no reason to send a response with a code. An open redirect of the upstream
  /// would turn it into a real response.
  static var reentryCarriesNoAnswer: Rule {
    Rule(name: "the request contains no response with a code") { context in
      let content = ReflectedCodeScanner(texts: context.request.texts)
      return content.containsResponse(to: context.addresses) ? .refuse(.codeReflectedFromRequest) : .pass
    }
  }

  /// `I-reentry`: each of these parameters is absent, empty (RFC 6749, section 3.1: empty means omitted) or equal to
  /// the value that was sent upstream, wherever it occurs.
  static var reentryUnchanged: Rule {
    Rule(name: "the parameters that went upstream come back unchanged") { context in
      for (parameter, value) in context.sent where context.request.contains(parameter) {
        for found in context.request.all(parameter) where !found.utf8.span.isEqual(to: value.utf8.span) {
          return .refuse(.reentryChanged, .parameter(parameter.text))
        }
      }
      // A parameter that was never sent upstream cannot come back from there.
      if let surplus = context.neverSent.intersection(context.request.given).sorted.first {
        return .refuse(.reentryChanged, .parameter(surplus.text))
      }
      return .pass
    }
  }
}

extension ReentryContext {
  /// The addresses to which a response of this transaction, or of another one of its client, would be sent.
  fileprivate var addresses: [String] {
    [GatewaySettings.ownCallback, transaction.upstreamRedirectURI, transaction.redirectURI.text]
      + (client?.redirectURIs.map(\.text) ?? [])
  }
}

extension GatewaySettings {
  /// The path of the callback, without the origin, which may be written in several ways.
  static var ownCallback: String { ownPath + "callback" }
}
