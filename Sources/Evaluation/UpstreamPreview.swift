import Enforcement
import OAuth
import Policy

/// The request that the gateway would send upstream, without secrets. A value is shown only if its parameter is known
/// to contain no secret.
public struct UpstreamPreview: Sendable, Equatable {
  /// A parameter with its value, or with a text in its place.
  public struct Parameter: Sendable, Equatable {
    /// The name.
    public let name: String
    /// The value, `***`, or a remark in parentheses.
    public let value: String
  }

  /// The method and the URL without its query.
  public let request: String
  /// The client authentication in the header; `nil` if there is none.
  public let authentication: String?
  /// The parameters of the query or the body, in order.
  public let parameters: [Parameter]

  /// Describes the authorization request for a permit.
  init(_ permit: AuthorizationPermit, path: String, _ policy: Policy) {
    request = "GET \(policy.upstream.url)\(path)"
    authentication = nil
    var parameters = permit.parameters.map(UpstreamPreview.parameter)
    if permit.upstreamUsesPKCE {
      parameters.append(Parameter(name: "code_challenge", value: "(a challenge of the gateway)"))
      parameters.append(Parameter(name: "code_challenge_method", value: "S256"))
    }
    self.parameters = parameters + [Parameter(name: "state", value: "(sealed by the gateway)")]
  }

  /// Describes a token request.
  init(_ form: UpstreamTokenRequest, path: String, _ policy: Policy) {
    request = "POST \(policy.upstream.url)\(path)"
    let user = form.authorization.flatMap { try? BasicCredentials(parsing: $0.reveal()).user }
    authentication = user.map { "Basic, client id `\($0)`, secret ***" }
    parameters = (FormParameters(parsing: form.body.reveal()) ?? FormParameters()).entries.map(
      UpstreamPreview.parameter)
  }

  /// True if the request has credentials of a client.
  var hasCredentials: Bool {
    authentication != nil
      || parameters.contains { ParameterNames.clientAuthentication.contains(ParameterName($0.name)) }
  }

  private static func parameter(_ entry: FormParameters.Entry) -> Parameter {
    let isShown = shown.contains(entry.parameter)
    return Parameter(name: entry.name, value: isShown ? entry.value : "***")
  }

  /// The parameters whose values are shown. All others may contain secrets.
  private static let shown = ParameterNames(
    .responseType, .clientID, .redirectURI, .scope, .grantType, .codeChallengeMethod, .tokenTypeHint, .audience,
    .resource, .responseMode, .display, .prompt, .maxAge, .uiLocales, .claimsLocales, .acrValues)
}
