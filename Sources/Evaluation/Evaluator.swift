import ByteText
import Enforcement
import Gateway
import OAuth
import PathReading
public import Policy
import PolicyFile

/// Decides requests under a policy as a gateway would, without a gateway, keys, a store or an upstream.
public struct Evaluator: Sendable {
  /// The policy.
  public let policy: Policy
  private let matcher: EndpointMatcher
  let identifiers: GuardedIdentifiers
  let identifiersIfEnforced: GuardedIdentifiers

  /// Prepares the evaluation of requests. This takes time in proportion to the number of clients.
  public init(_ policy: Policy) {
    self.policy = policy
    matcher = EndpointMatcher(policy)
    identifiers = GuardedIdentifiers(policy)
    identifiersIfEnforced = policy.isObserving ? GuardedIdentifiers(policy, asIfEnforced: true) : identifiers
  }

  /// Decides a request. A client secret in the request counts as the right one, unless it is the text `wrong`, so that
  /// the secrets of the policy need not be read. The request is treated as one that came over TLS, from a browser or program that has no
  /// sign-in in progress.
  public func evaluate(_ request: TriedRequest) -> Evaluation {
    if let authority = request.authority, !isServed(authority) {
      var evaluation = Evaluation(.reject(.withoutRedirect(.hostUnknown)))
      evaluation.notes.append(
        "the request is for `\(authority)`; the policy's `gateway.origin` is `\(policy.gateway.origin)`")
      return evaluation
    }
    let request = request.assumingRightSecret(secret)
    let match = matcher.read(path: request.path, query: request.query ?? "")
    if request.path.utf8.contains(where: \.needsEncodingInTarget)
      || request.query?.utf8.contains(where: \.needsEncodingInTarget) ?? false
    {
      if case .exact(let endpoint) = match, endpoint.isOwn {
        return Evaluation(.reject(.withoutRedirect(.targetUnencoded)))
      }
      return refuseOrPass(.targetUnencoded)
    }
    switch match {
    case .notEndpoint:
      let names = namesInForm(of: request)
      guard names.indicateOAuthRequest else { return Evaluation(.pass) }
      return matcher.isAuthorization(at: request.path.utf8.span, names) ? authorization(request) : unlisted()
    case .unlisted: return unlisted()
    case .notPassed: return refuseOrPass(.pathNotPassed)
    case .ambiguous: return refuseOrPass(.pathAmbiguous)
    case .resembling: return refuseOrPass(.pathResemblesEndpoint)
    case .exact(let endpoint):
      var evaluation = evaluate(request, at: endpoint)
      evaluation.endpoint = endpoint.nameInLog
      if let near = similarClient(evaluation) { evaluation.notes.append("did you mean the client `\(near)`?") }
      return evaluation
    }
  }

  /// Returns the secret with which the gateway compares that of a client or of a resource server.
  private func secret(of id: String) -> Secret? {
    if let client = policy.clients[ClientID(id)] {
      return client.secret ?? (client.upstream.clientID == client.id ? client.upstream.clientSecret : nil)
    }
    return policy.resources.all.first { $0.introspection?.id == id }?.introspection?.secret
  }

  /// Returns the id of the client of the policy that is most similar to the unknown client of a request.
  private func similarClient(_ evaluation: Evaluation) -> String? {
    guard evaluation.rejection?.ruleID == Rejection.clientUnknown.ruleID, let id = evaluation.client else { return nil }
    return EditDistance.nearest(to: id, among: policy.clients.keys.map(\.rawValue).sorted())
  }

  private func isServed(_ authority: String) -> Bool {
    let origin = policy.gateway.origin
    let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
    return [origin.authority.lowercased(), "\(host):\(origin.port)".lowercased()].contains(authority.lowercased())
  }

  private func evaluate(_ request: TriedRequest, at endpoint: Endpoint) -> Evaluation {
    if let rejection = endpoint.closedWith { return refuseOrPass(rejection) }
    switch endpoint {
    case .authorization: return authorization(request)
    case .token: return token(request)
    case .revocation: return revocation(request)
    case .introspection: return upstreamIntrospection(request)
    case .pushedAuthorization: return pushed(request)
    case .deviceAuthorization: return deviceAuthorization(request)
    case .resourceIntrospection: return resourceIntrospection(request)
    case .metadata: return policy.isEnforcing ? Evaluation(.forward) : observed(.metadataBypassesGateway)
    case .protectedResource, .deviceQRCode, .rulePages: return Evaluation(.forward)
    case .callback, .consent, .start, .deviceVerification:
      return Evaluation(.undetermined("the answer depends on a sign-in in progress"))
    case .registration: return Evaluation(.undetermined("the metadata in a registration request are not evaluated"))
    case .otherOwnPath: return Evaluation(.reject(.withoutRedirect(.pathNotPassed)))
    case .closed, .upstreamMetadata: return Evaluation(.pass)
    }
  }

  // MARK: Paths

  private func refuseOrPass(_ rejection: Rejection) -> Evaluation {
    policy.isEnforcing ? Evaluation(.reject(.withoutRedirect(rejection))) : observed(rejection)
  }

  private func observed(_ rejection: Rejection) -> Evaluation {
    var evaluation = Evaluation(.pass)
    evaluation.mode = .observe
    evaluation.findings = [.wouldReject(rejection)]
    return evaluation
  }

  private func unlisted() -> Evaluation {
    policy.isEnforcing && policy.unlistedOAuth == .reject
      ? Evaluation(.reject(.withoutRedirect(.unlistedOAuth))) : observed(.unlistedOAuth)
  }

  /// Returns the parameters of an OAuth request in a form and the query in front of it; the set is empty without a form.
  private func namesInForm(of request: TriedRequest) -> OAuthNames {
    let types = request.all("Content-Type")
    let body: ParameterBody? =
      types.isEmpty && request.method == "POST"
      ? .urlEncoded : types.lazy.compactMap { ParameterBody(mediaType: $0.utf8.span) }.first
    guard let body else { return [] }
    return OAuthNames(form: (request.query ?? "").utf8.span).union(body.names(in: request.body.span))
  }
}
