import Enforcement
import HTTP
import JSON
import OAuth
import Policy
import Proxy
import Telemetry
import Time

/// Records observed requests, which pass even if a rule would refuse them (`I-observe`). The record consists of the
/// fields of the log line, and of findings that depend on earlier requests of the same sign-in.
extension InterceptedRequest {
  /// The maximum length of a token response that the gateway reads, in bytes. A longer response passes unread.
  private static let maximumTokenResponseLength = 64 * 1024

  /// Records an authorization request.
  func recordObserved(_ request: AuthorizationRequest) {
    let parameters = request.parameters
    var observed = RequestDetails(authorization: parameters)
    if let uri = parameters[.redirectURI].flatMap({ try? RedirectURI(parsing: $0) }) {
      trail.recordRedirectKind(of: uri)
    }
    let client = parameters[.clientID].flatMap { self.client(ClientID($0)) }
    // By `link`, a digest of the state and the redirect URI, the gateway will find the request of a response.
    if parameters[.responseType] == "code", let link = ObservedFlow.linkDigest(of: request, client: client) {
      observed.flow = link.description
      gateway.resources.observedFlows.recordRequest(
        ObservedFlow(request), link: link, client: client.flatMap { listedClient($0.id.rawValue)?.id.rawValue })
    }
    trail.details = observed
  }

  /// Records a token request. Also records the refusals that the request would get in enforce mode and that depend on
  /// earlier requests: on the authorization request for its code, or on the token requests that issued or superseded
  /// its refresh token.
  func recordObserved(_ request: TokenRequest) {
    let parameters = request.parameters
    let authentication = request.readableClientAuthentication
    let grant = parameters[.grantType].flatMap(GrantType.init(rawValue:))
    var observed = RequestDetails(token: parameters, authentication)
    observed.grant = parameters[.grantType].map { _ in grant?.rawValue ?? "other" }
    switch grant {
    case .authorizationCode:
      guard let code = parameters[.code].map({ ShortDigest($0) }) else { break }
      observed.codeDigest = code.description
      let recordedCode = gateway.resources.observedFlows.recordUse(of: code)
      observed.isLinked = recordedCode != nil
      guard let recordedCode else {
        trail.recordNotObservable()
        break
      }
      let rejections = Enforcement.rejections(
        of: request, redeeming: recordedCode.flow, isSecondUse: recordedCode.uses > 0,
        age: now - recordedCode.passedAt, policy: policy)
      for rejection in rejections { trail.recordWouldReject(rejection) }
      trail.path = recordedCode.path
    case .refreshToken:
      guard let token = parameters[.refreshToken], let id = authentication?.clientID,
        let recordedToken = gateway.resources.observedFlows.refreshToken(ShortDigest(token))
      else { break }
      if recordedToken.client != ShortDigest(id.rawValue) { trail.recordWouldReject(.refreshTokenIssuedToOtherClient) }
      let window = client(id)?.refreshReuseWindow ?? 0
      if let supersededAt = recordedToken.supersededAt, now - supersededAt >= window {
        trail.recordWouldReject(.refreshTokenReused)
      }
    case .clientCredentials, .deviceCode, .password, nil: break
    }
    trail.details = observed
  }

  /// Records the refresh token in a successful token response, if the response has `Content-Length` and is not longer
  /// than `maximumTokenResponseLength`. Returns the response with an unchanged body, or an error if the upstream fails
  /// while the body is read.
  func recordRefreshToken(in reply: Reply, to request: TokenRequest) async -> Reply {
    guard case .relay(let answer, var response) = reply, answer.head.status == 200,
      let length = answer.length, length <= InterceptedRequest.maximumTokenResponseLength,
      let id = request.readableClientAuthentication?.clientID
    else { return reply }
    do throws(UpstreamFailure) {
      response.body = try await answer.collect()
    } catch {
      return .response(tokenRejection(.withoutRedirect(rejection(for: error))))
    }
    if let token = JSONValue.members(of: response.body)?["refresh_token"]?.text {
      gateway.resources.observedFlows.recordRefreshToken(
        ShortDigest(token), presented: request.parameters[.refreshToken].map { ShortDigest($0) },
        client: ShortDigest(id.rawValue), now: now)
    }
    return .response(response)
  }
}
