import OAuth
import Policy

extension Rule where Context == ReentryContext {
  /// `I-completion`: a page of the upstream has no answer to send back; an open redirect there would make it one.
  static var reentryCarriesNoAnswer: Rule {
    Rule(name: "no answer with a code comes in the request") { context in
      var addresses = [
        GatewaySettings.ownCallback, context.transaction.upstreamRedirectURI, context.transaction.redirectURI.text,
      ]
      addresses += context.client?.redirectURIs.map(\.text) ?? []
      return RequestContent(texts: context.request.texts).carriesAnswer(to: addresses) ? .refuse(.answerEchoed) : .pass
    }
  }
}

extension GatewaySettings {
  /// The path of the callback, in whatever spelling of the origin.
  static var ownCallback: String { ownPath + "callback" }
}
