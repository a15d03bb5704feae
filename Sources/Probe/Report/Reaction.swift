import Gateway
import HTTP
import OAuth
import Policy

/// The reaction of an authorization endpoint to a request without a session. Texts of the server are in it only if they
/// are short words or paths.
package enum Reaction: Equatable, Sendable {
  /// The login page: a redirect to another page of the server, or a page with a field for a password.
  case login(path: String)
  /// A redirect to another site, for example to the server's public address or to another identity provider.
  case otherSite(String)
  /// A page without a field for a password.
  case page
  /// A page, or another body, with an error status.
  case errorPage(status: Int)
  /// A redirect to a page of the server whose query has an `error`.
  case errorRedirect(path: String)
  /// A redirect to the redirect URI of the request, with an error.
  case errorToApp(code: String, hasState: Bool)
  /// A redirect to the redirect URI of the request, without an error.
  case answerToApp
  /// A redirect to the same path with or without a slash at its end.
  case moved(path: String)
  /// A JSON object with an error.
  case json(status: Int)
  case failure(ProbeFailure)

  /// Classifies a response to an authorization request.
  ///
  /// - Parameters:
  ///   - redirectURI: The redirect URI of the request.
  ///   - path: The path of the request.
  init(_ outcome: Result<ProbeAnswer, ProbeFailure>, redirectURI: String, path: String, origin: Origin) {
    switch outcome {
    case .failure(let failure): self = .failure(failure)
    case .success(let answer):
      if (300..<400).contains(answer.status), let location = answer.headers["Location"] {
        self = Reaction.redirect(answer.status, to: location, redirectURI: redirectURI, path: path, origin: origin)
      } else if answer.status >= 400 {
        self = answer.format == .json ? .json(status: answer.status) : .errorPage(status: answer.status)
      } else if answer.format == .json {
        self = .json(status: answer.status)
      } else {
        self = Reaction.hasPasswordField(answer) ? .login(path: path) : .page
      }
    }
  }

  private static func hasPasswordField(_ answer: ProbeAnswer) -> Bool {
    ["type=\"password\"", "type='password'", "type=password"].contains { answer.contains($0) }
  }

  private static func redirect(
    _ status: Int, to location: String, redirectURI: String, path: String, origin: Origin
  ) -> Reaction {
    let parameters = QueryText.pairs(location.drop { $0 != "?" && $0 != "#" }.dropFirst().prefix { $0 != "#" })
    if !redirectURI.isEmpty, location.hasPrefix(redirectURI), isEnd(location.dropFirst(redirectURI.count)) {
      guard let error = parameters["error"] else { return .answerToApp }
      return .errorToApp(code: Word.printable(error), hasState: parameters["state"] != nil)
    }
    let head = String(location.prefix { $0 != "?" && $0 != "#" })
    guard let target = localPath(location, from: path, origin) else {
      return .otherSite(MetadataURL(parsing: head).map { $0.origin.authority } ?? "another program")
    }
    if target != path, withoutSlash(target) == withoutSlash(path) { return .moved(path: target) }
    return parameters["error"] != nil ? .errorRedirect(path: target) : .login(path: target)
  }

  private static func isEnd(_ rest: Substring) -> Bool {
    rest.first.map { "?&#".contains($0) } ?? true
  }

  private static func withoutSlash(_ path: String) -> Substring {
    path.hasSuffix("/") ? path.dropLast() : path[...]
  }

  /// Returns the path of a `Location` at the same server, without a session id; `nil` for another server.
  private static func localPath(_ location: String, from path: String, _ origin: Origin) -> String? {
    let target: Substring
    if location.hasPrefix("/"), !location.hasPrefix("//") {
      target = location[...]
    } else if let url = MetadataURL(parsing: String(location.prefix { $0 != "?" && $0 != "#" })) {
      guard url.origin == origin else { return nil }
      target = url.target[...]
    } else if location.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") || location.hasPrefix("//") {
      return nil
    } else {
      target = ((path.lastIndex(of: "/").map { path[...$0] } ?? "/") + location)[...]
    }
    let plain = Word.path(target.prefix { $0 != "?" && $0 != "#" && $0 != ";" })
    // A combining character joins with the `/` in front of it.
    return plain.hasPrefix("/") ? plain : "/" + plain
  }

  /// True if the server accepts the request as far as it looks at it without a session.
  var isAccepted: Bool {
    switch self {
    case .login, .otherSite, .page: true
    case .errorPage, .errorRedirect, .errorToApp, .answerToApp, .moved, .json, .failure: false
    }
  }

  /// The reaction in words.
  package var description: String {
    switch self {
    case .login(let path): "the login page (`\(path)`)"
    case .otherSite(let host): "a redirect to `\(host)`"
    case .page: "a page with status 200"
    case .errorPage(let status): "a page with status \(status)"
    case .errorRedirect(let path): "a redirect to the server's page `\(path)`"
    case .errorToApp(let code, let hasState):
      "a redirect to the app with `error=\(code)`, \(hasState ? "with" : "without") the `state`"
    case .answerToApp: "a redirect to the app without an error"
    case .moved(let path): "a redirect to `\(path)`"
    case .json(let status): "a JSON object with status \(status)"
    case .failure(let failure): "no answer (\(failure))"
    }
  }
}
