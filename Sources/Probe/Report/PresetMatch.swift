import Policy

/// The preset of the server, by paths and answers that are characteristic of it.
enum PresetMatch {
  /// Returns the preset that fits; `nil` if none does.
  static func preset(for observations: Observations) -> ServerPreset? {
    ServerPreset.all.first { preset in
      let paths = preset.settings.endpoints
      guard let authorization = observations.authorization, let token = observations.token,
        paths.authorization.contains(authorization.path), paths.token.contains(token.path), token.isConfirmed
      else { return false }
      switch preset.kind {
      // Authlib repeats the error in the challenge, and knows no other server with the same paths that does.
      case "authlib": return observations.tokenError?.challengeHasError == true
      case "flask-oauthlib":
        guard case .errorRedirect("/oauth/errors")? = observations.unknownClient else { return false }
        return observations.tokenError?.challenge == nil
      case "django-oauth-toolkit":
        return observations.revocation.map { paths.revocation.contains($0.path) } ?? false
      default: return false
      }
    }
  }
}
