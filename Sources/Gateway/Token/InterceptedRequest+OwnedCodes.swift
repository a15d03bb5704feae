import Enforcement
import HTTP
import OAuth
import Policy
import Proxy
import Stores
import Time

/// Checks whether the upstream codes in observed requests and in their responses belong to a transaction
/// (`I-completion`). The checks run only if at least one client of the policy is enforced.
extension InterceptedRequest {
  /// Returns the refusal of a request that contains an upstream code that belongs to a transaction; `nil` if the
  /// request contains no such code.
  ///
  /// The client of the transaction gets the code only in sealed form, and must present the verifier to redeem it. The
  /// verifier of an observed request is not checked. So an attacker that has intercepted the upstream's own code could
  /// redeem it without the verifier, by sending it with the client id of an observed client. Some servers accept a code
  /// with the id of any client, so this function does not compare the client ids.
  func refusalOfOwnedCode(in parameters: [FormParameters]) async -> RejectionResponse? {
    do throws(StoreError) {
      for code in parameters.flatMap({ $0.all(.code) }) {
        let digest = UpstreamCodeDigest(of: Secret(code))
        if try await gateway.resources.codes.isOwned(digest, now: now) { return .withoutRedirect(.codeNotSealed) }
      }
      return nil
    } catch {
      return .withoutRedirect(.storeUnavailable)
    }
  }

  /// Claims the codes in a response that passes outside of any transaction, so that no transaction can use them later.
  /// Returns false if a code already belongs to a transaction.
  ///
  /// If the store is full or unavailable, the response passes, and the decision log gets a finding: the response may be
  /// one for an observed client, and is refused only if its code certainly belongs to a transaction.
  /// `refusalOfOwnedCode` is stricter: without the store, it cannot rule out that the code belongs to a transaction, so it
  /// refuses the request.
  ///
  /// - Parameter clientID: The client id in the request; `nil` if the request has none, as with a login form.
  func claimCodes(in locations: [String], for clientID: String?) async -> Bool {
    // The client and network to which the store charges the entries.
    let holder = storeHolder(for: clientID.map { ClientID($0) })
    for location in locations {
      let target = absolute(String(Substring(RefreshField.target(of: location))))
      guard let code = UpstreamAuthorizationResponse(location: target)?.parameters[.code] else { continue }
      let digest = UpstreamCodeDigest(of: Secret(code))
      do throws(StoreError) {
        let isClaimed = try await gateway.resources.codes.claimWithoutTransaction(
          digest, holder: holder, lifetime: policy.upstream.codeLifetime, now: now)
        guard isClaimed else { return false }
      } catch {
        trail.findings.append("code-not-claimed")
      }
    }
    return true
  }
}
