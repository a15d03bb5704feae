import Enforcement
import HTTP
import OAuth
import Policy
import Stores

/// Upstream codes in observed requests and in their responses, if the policy enforces a client (`I-completion`).
extension InterceptedRequest {
  /// Returns the refusal of a raw code that belongs to a transaction: a program that intercepted the code would redeem
  /// it without its verifier, in the name of a client that is not enforced. Returns `nil` if the request has no such
  /// code.
  ///
  /// - Parameter clientID: The client id that the request names, in any place.
  func refusalOfOwnedCode(in parameters: [FormParameters], from clientID: String?) async -> RejectionResponse? {
    let codes = parameters.flatMap { $0.all(.code) }
    let clients = Set(parameters.flatMap { $0.all(.clientID) } + (clientID.map { [$0] } ?? []))
    do throws(StoreError) {
      for code in codes {
        for client in clients where try await isOwned(code, by: client) { return .here(.codeNotSealed) }
      }
      return nil
    } catch {
      return .here(.storeUnavailable)
    }
  }

  private func isOwned(_ code: String, by client: String) async throws(StoreError) -> Bool {
    let digest = UpstreamCodeDigest(of: Secret(code), issuedTo: ClientID(client))
    return try await gateway.resources.codes.isOwned(digest, now: now)
  }

  /// Claims the codes of a response that passes to an observed client, so that no transaction can present them later.
  /// Returns false if a transaction presented one of them before.
  ///
  /// If the store is unavailable, the response passes: observing does not depend on it.
  func claimPassing(_ locations: [String], to clientID: String) async -> Bool {
    let holder = StoreHolder(
      client: ClientID(clientID), address: request.peer.address, isLoopback: request.peer.isLoopback)
    for location in locations {
      guard let code = UpstreamAuthorizationResponse(location: absolute(location))?.parameters[.code] else { continue }
      let digest = UpstreamCodeDigest(of: Secret(code), issuedTo: ClientID(clientID))
      do throws(StoreError) {
        let lifetime = Int64(policy.upstream.codeLifetime)
        let isClaimed = try await gateway.resources.codes.claimPassing(
          digest, holder: holder, lifetime: lifetime, now: now)
        guard isClaimed else { return false }
      } catch {
        trail.findings.append("code-not-claimed")
      }
    }
    return true
  }
}
