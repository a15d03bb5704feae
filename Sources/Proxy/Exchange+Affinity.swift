import HTTP
import HTTP1
import Reactor

/// The relation of requests to one of several addresses of the upstream.
extension Exchange {
  /// Returns the address that suits the request, whose head is at the front of the client's input and in
  /// `requestFields`.
  @inline(never)
  func preferredAddress() -> AddressPreference {
    switch worker.settings.configuration.affinity {
    case .first, .leastOutstanding: return .none
    case .clientAddress:
      let identity = clientConnection.identity
      let address = fromClient.withSpan { identity.facts($0, requestFields, requestNumber: 0).peer.address }
      return .hash(UpstreamAddress.hash(address.utf8))
    case .cookie(let name):
      let id = fromClient.withSpan { AddressCookie(of: name).id($0, requestFields) }
      return id.map { .id($0) } ?? .none
    }
  }

  /// Records the failure of a request that `upstream` has but did not answer. A server may close the connection of a request
  /// of which it has only a part: because the client is slow, or because the body is too long. That says nothing about the
  /// server, and any client can cause it.
  func noteLostRequest(_ failure: Failure, _ upstream: UpstreamConnection) {
    guard case .state(let failure) = failure, state.awaitsResponse else { return }
    switch failure {
    case .upstreamReset: pool.noteLostRequest(upstream, isEnd: true)
    case .responseTimeout: pool.noteLostRequest(upstream, isEnd: false)
    case .clientGone, .clientTimeout, .tooSlow, .tooLong: break
    }
  }
}

extension Upstream {
  /// Returns the address that suits a request of the gateway itself.
  func preference(headers: Headers, peer: Peer) -> AddressPreference {
    guard worker.pool.targets.count != 1 else { return .none }
    // The cookie names the server that has the session, even if another one has served an earlier step.
    if case .cookie(let name) = worker.settings.configuration.affinity,
      let id = AddressCookie(of: name).id(in: headers)
    {
      return .id(id)
    }
    if let preferredAddress { return .id(preferredAddress) }
    if case .clientAddress = worker.settings.configuration.affinity {
      return .hash(UpstreamAddress.hash(peer.address.utf8))
    }
    return .none
  }

  /// Chooses the address that serves a sign-in which begins with `request`, and prefers it from now on. Returns its id;
  /// `nil` if the upstream has one address.
  public func chooseAddress(for request: Request) -> UInt16? {
    // A sign-in may begin before the first request of this worker to the upstream.
    if worker.pool.poller.now >= worker.pool.nextRefresh { worker.pool.refreshTargets() }
    guard worker.pool.targets.count > 1 else { return nil }
    let preference = preference(headers: request.headers, peer: request.peer)
    preferredAddress = worker.pool.choose(preference).address.id
    return preferredAddress
  }
}

extension ProxyWorker {
  /// Returns the values of the `Set-Cookie` fields that tell the client which address has answered; empty unless the
  /// response sets the session cookie. `responseFields` contains the fields of the response at the front of `input`.
  @inline(never)
  func addressCookies(_ input: Buffer, of upstream: UpstreamConnection) -> [[UInt8]] {
    guard case .cookie(let name) = settings.configuration.affinity else { return [] }
    return input.withSpan { bytes in
      AddressCookie(of: name).values(
        for: upstream.target.address.id, bytes, responseFields, settings.configuration)
    }
  }
}
