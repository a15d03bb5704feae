import OAuth
import Policy

extension Rule where Context == ReentryContext {
  /// `I-completion`: a page of the upstream has no answer to send back; an open redirect there would make it one.
  static var reentryCarriesNoAnswer: Rule {
    Rule(name: "no answer with a code comes in the request") { context in
      let content = RequestContent(texts: context.request.texts)
      return content.carriesAnswer(to: context.addresses) ? .refuse(.answerEchoed) : .pass
    }
  }
}

extension ReentryContext {
  /// Where an answer of this transaction, or of another one of its client, would go.
  fileprivate var addresses: [String] {
    [GatewaySettings.ownCallback, transaction.upstreamRedirectURI, transaction.redirectURI.text]
      + (client?.redirectURIs.map(\.text) ?? [])
  }
}

extension GatewaySettings {
  /// The path of the callback, in whatever spelling of the origin.
  static var ownCallback: String { ownPath + "callback" }
}
