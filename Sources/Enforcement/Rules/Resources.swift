import OAuth
import Policy

// Rules on `resource` (RFC 8707). They run only if the policy lists resources.

/// The resource that a request names.
enum RequestedResource: Sendable {
  /// The request names none, or the policy lists no resources.
  case none
  case listed(Resource)
  /// The request names a resource that the policy does not list.
  case unknown
  /// The request names two different resources.
  case several

  init(_ parameters: FormParameters, _ policy: Policy) {
    guard !policy.resources.isEmpty, parameters.contains(.resource) else {
      self = .none
      return
    }
    var found: Resource?
    // An empty value counts as omitted (RFC 6749, section 3.1).
    for name in parameters.all(.resource) where !name.isEmpty {
      guard let resource = policy.resources[name] else {
        self = .unknown
        return
      }
      if let found, found !== resource {
        self = .several
        return
      }
      found = resource
    }
    self = found.map(RequestedResource.listed) ?? .none
  }

  /// The resource, if there is exactly one.
  var resource: Resource? {
    guard case .listed(let resource) = self else { return nil }
    return resource
  }

  /// Returns the verdict on a request of a client with this resource.
  func verdict(for client: Client?) -> Verdict {
    switch self {
    case .none: .pass
    case .unknown: .refuse(.resourceUnknown)
    case .several: .refuse(.resourceRepeated)
    case .listed(let resource): client.map(resource.permits) ?? true ? .pass : .refuse(.resourceUnknown)
    }
  }
}

extension Rule where Context == AuthorizationContext {
  /// RFC 8707, section 2.
  static var resourceListed: Rule {
    Rule(name: "the resource is listed", source: "RFC 8707, section 2") { context in
      // `context.client` already has the upstream client of the resource.
      context.requestedResource.verdict(for: context.registeredClient)
    }
  }
}

extension Rule where Context == TokenContext {
  /// RFC 8707, section 2.2. The upstream client of a resource is never used for the client credentials grant (invariant
  /// `I-credentials`).
  static var tokenResourceListed: Rule {
    Rule(name: "the resource is listed", source: "RFC 8707, section 2.2") { context in
      if case .listed(let resource) = context.requestedResource, resource.upstream.client != nil,
        context.grant == .clientCredentials
      {
        return .refuse(.resourceUnknown)
      }
      return context.requestedResource.verdict(for: context.client)
    }
  }
}

extension TokenContext {
  var requestedResource: RequestedResource { RequestedResource(parameters, policy) }
}

/// The facts for the rules on the resource of a token request whose code, device code or refresh token has been
/// decrypted.
protocol ResourceContext: Sendable {
  /// The resource that the request names.
  var requestedResource: RequestedResource { get }
  /// The identifier of the resource in the code, device code or refresh token; `nil` if it has none.
  var grantedResource: String? { get }
  /// The resource with the identifier `grantedResource` in the current policy.
  var resource: Resource? { get }
}

extension ResourceContext {
  /// Returns true if the grant is for a resource that the current policy does not list, or does not permit to the
  /// client.
  fileprivate func losesResource(_ client: Client) -> Bool {
    guard grantedResource != nil else { return false }
    return resource.map { !$0.isWithinLimits(of: client) } ?? true
  }
}

extension Rule where Context: ResourceContext {
  /// RFC 8707, section 2.2. A grant without a resource is for no listed resource, so that an app cannot choose one that
  /// the user has not seen.
  static var resourceGranted: Rule {
    Rule(name: "resource is that of the authorization request", source: "RFC 8707, section 2.2") { context in
      guard let requested = context.requestedResource.resource else { return .pass }
      return requested.uri.text == context.resource?.uri.text ? .pass : .refuse(.resourceNotGranted)
    }
  }
}

extension Rule where Context == RedemptionContext {
  /// The policy may have changed since the code was issued. Without the entry of the resource, the gateway does not know
  /// which values the upstream must get for it. The resources of clients that the policy does not list may have become
  /// fewer.
  static var codeResourceListed: Rule {
    Rule(name: "the policy still lists the resource") { context in
      context.losesResource(context.request.client) ? .refuse(.codeOutdated) : .pass
    }
  }
}

extension Rule where Context == DevicePollContext {
  /// As for a code (`codeResourceListed`).
  static var deviceResourceListed: Rule {
    Rule(name: "the policy still lists the resource") { context in
      context.losesResource(context.poll.client) ? .refuse(.codeOutdated) : .pass
    }
  }
}

extension Rule where Context == RefreshContext {
  /// As for a code (`codeResourceListed`).
  static var refreshResourceListed: Rule {
    Rule(name: "the policy still lists the resource") { context in
      context.losesResource(context.request.client) ? .refuse(.refreshTokenOutdated) : .pass
    }
  }
}

extension Resource {
  /// Returns the parameters that the upstream gets for the resource.
  ///
  /// - Parameter sendsAudience: True for the request in which the upstream chooses the audience of the token: an
  ///   authorization request, or a token request of the client for itself.
  func upstreamEntries(sendsAudience: Bool) -> [FormParameters.Entry] {
    var entries: [FormParameters.Entry] = []
    if sendsAudience, let audience = self.upstream.audience {
      entries.append(FormParameters.Entry(.audience, audience))
    }
    if let resource = self.upstream.resource { entries.append(FormParameters.Entry(.resource, resource)) }
    return entries
  }
}
