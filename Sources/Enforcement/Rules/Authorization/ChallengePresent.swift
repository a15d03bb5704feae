import OAuth
import Policy

extension Rule where Context == AuthorizationContext {
  /// RFC 7636, section 4.4.1; RFC 8252, section 8.1: for every native app, whatever its redirect URI looks like.
  static var challengePresent: Rule {
    Rule(name: "there is a code challenge") { context in
      guard let client = context.client, client.pkce == .required else { return .pass }
      guard case .absent = context.challenge else { return .pass }
      return .refuse(.challengeMissing)
    }
  }
}
