import HTTP
import Policy

/// The parts of a response to an authorization request that are the same for each request of the same kind.
struct AuthorizationAnswer: Sendable {
  let reaction: Reaction
  /// The status; `nil` without an answer.
  private let status: Int?
  /// The names of the parameters in the query and the fragment of `Location`.
  private let parameters: Set<String>

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - redirectURI: The redirect URI of the request.
  ///   - path: The path of the request.
  init(_ outcome: Result<ProbeAnswer, ProbeFailure>, redirectURI: String, path: String, origin: Origin) {
    reaction = Reaction(outcome, redirectURI: redirectURI, path: path, origin: origin)
    guard case .success(let answer) = outcome else {
      status = nil
      parameters = []
      return
    }
    status = answer.status
    let location = answer.headers["Location"] ?? ""
    let parts = location.drop { $0 != "?" && $0 != "#" }.split { $0 == "?" || $0 == "#" }
    parameters = Set(parts.flatMap { QueryText.pairs($0).keys })
  }

  /// Compares two responses, where only the request of the first one had the additional parameters. A login page may get
  /// all parameters of the request.
  func isLike(_ other: AuthorizationAnswer, exceptFor added: [ProbeRequest.Parameter]) -> Bool {
    reaction == other.reaction && status == other.status
      && parameters.subtracting(added.map(\.name)) == other.parameters
  }
}
