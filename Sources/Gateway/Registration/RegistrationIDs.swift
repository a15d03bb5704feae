import Enforcement
import OAuth
import Policy
import Sealing
import Time

/// Issues and opens the ids of registered clients (RFC 7591). An id is `pg1.` and the sealed registration.
struct RegistrationIDs {
  let settings: RegistrationSettings
  private let sealer: Sealer

  /// Creates the issuer of a worker; `nil` if the policy has no `registration` or there is no key for it.
  init?(_ snapshot: GatewaySnapshot) {
    guard let settings = snapshot.policy.registration, let keys = snapshot.keyRing.registration else { return nil }
    self.settings = settings
    sealer = Sealer(keyRing: keys, issuer: snapshot.policy.gateway.issuer)
  }

  /// Returns the id of a client with this metadata; `nil` if the id would be too long.
  ///
  /// - Parameter instance: The random bytes of a client with a secret; `nil` for a public client.
  func issue(_ metadata: ClientMetadata, instance: [UInt8]? = nil, now: UnixTime) -> ClientID? {
    let registration = ClientRegistration(
      metadata: metadata, quarter: CalendarQuarter(containing: now), instance: instance)
    let id = ClientID.issuedPrefix + sealer.seal(idempotently: registration)
    return id.utf8.count <= ClientID.maximumIssuedLength ? ClientID(id) : nil
  }

  /// Returns the client with this id; `nil` if the gateway did not issue the id, or if the id ended: its key is
  /// retired, its quarter is before `not_before`, or the policy denies the client or nothing that it registered is
  /// permitted any more.
  ///
  /// A client with a secret stays confidential if `secrets` is switched off later.
  func client(_ id: String) -> Client? {
    guard let (registration, sealed) = registration(id), isAccepted(registration.quarter) else { return nil }
    guard registration.instance != nil else { return settings.rules.client(ClientID(id), registration.metadata) }
    guard let secret = try? sealer.clientSecret(of: sealed) else { return nil }
    return settings.rules.client(ClientID(id), registration.metadata, secret: secret)
  }

  /// Returns a client for a revocation by the client with this id, which the policy no longer permits; `nil` if the id
  /// has not the form of an issued one. The client needs its secret, unless the key of its id is retired: the secret has
  /// then ended too, and only the sealed token is left as a proof.
  func endedClient(_ id: ClientID) -> Client? {
    guard ClientID.isIssued(id.rawValue) else { return nil }
    guard let (registration, sealed) = registration(id.rawValue), registration.instance != nil else {
      return settings.rules.undescribedClient(id)
    }
    return (try? sealer.clientSecret(of: sealed)).map { settings.rules.undescribedClient(id, secret: $0) }
  }

  /// Returns the client of a sign-in that is not completed yet; `nil` if the policy denies the client or nothing that it
  /// registered is permitted any more. The client is public, because no request of it is decided here.
  ///
  /// - Parameter id: The short form of its id.
  func client(_ id: ClientID, _ outline: RegistrationOutline) -> Client? {
    guard isAccepted(outline.quarter) else { return nil }
    return settings.rules.client(id, outline.metadata)
  }

  /// Returns the outline to seal for a sign-in of the client with this id; `nil` if the gateway did not issue the id.
  func outline(_ id: ClientID, redirectURI: RedirectURI, scope: Scope?) -> RegistrationOutline? {
    registration(id.rawValue).map { RegistrationOutline($0.registration, redirectURI: redirectURI, scope: scope) }
  }

  private func registration(_ id: String) -> (registration: ClientRegistration, sealed: String)? {
    guard ClientID.isIssued(id), id.utf8.count <= ClientID.maximumIssuedLength else { return nil }
    let sealed = String(id.dropFirst(ClientID.issuedPrefix.utf8.count))
    return (try? sealer.open(ClientRegistration.self, from: sealed)).map { ($0, sealed) }
  }

  private func isAccepted(_ quarter: CalendarQuarter) -> Bool {
    guard let end = settings.notBefore else { return true }
    // The setting is the first second after the day.
    return quarter >= CalendarQuarter(containing: UnixTime(seconds: end.seconds - 1))
  }
}

extension Gateway {
  /// Returns the registered client with this id; `nil` if there is none.
  func registeredClient(_ id: String) -> Client? { registrations?.client(id) }

  /// Returns the record of a token with the scope that the policy still permits to each of its clients, any of which may
  /// present the token; `nil` if the policy no longer permits one of them.
  func permitted(_ record: AccessTokenRecord) -> AccessTokenRecord? {
    var permitted = record
    for holder in record.holders where policy.clients[holder.clientID] == nil {
      guard let limited = unlistedClient(of: holder).flatMap({ permitted.limited(to: $0, policy) }) else { return nil }
      permitted = limited
    }
    return permitted
  }

  /// Returns the client if the policy permits it as a registered client or one with a document; otherwise `nil`. The
  /// whole deny-list applies: the id of a registered client contains its metadata, and the record of a token has those
  /// in a document.
  private func unlistedClient(of holder: AccessTokenHolder) -> Client? {
    let id = holder.clientID.rawValue
    if let client = registeredClient(id) { return client }
    guard let settings = policy.clientDocuments, let url = settings.url(id), let document = holder.document else {
      return nil
    }
    return settings.client(url, document)
  }
}

extension InterceptedRequest {
  /// Returns the client of a sealed refresh token if the policy does not list the client and no longer permits it;
  /// otherwise `nil`. The caller has verified that the request names this client.
  ///
  /// If its entry or section was removed from the policy, so was its secret, and only the sealed token is left as a proof.
  func endedClient(of grant: RefreshGrant) -> Client? {
    let id = grant.clientID
    guard listedClient(id.rawValue) == nil, unlistedClient(id.rawValue) == nil else { return nil }
    if grant.document != nil {
      if let rules = policy.clientDocuments?.rules { return rules.undescribedClient(id) }
    } else if let registrations = gateway.registrations, ClientID.isIssued(id.rawValue) {
      return registrations.endedClient(id)
    }
    var rules = UnlistedClientRules()
    rules.upstream = UpstreamClient(
      clientID: grant.upstreamClientID, authentication: .none, redirectURI: .requested)
    return rules.undescribedClient(id)
  }

  /// Returns the outline to seal for a permitted request of a registered client; `nil` for any other client.
  func registrationToSeal(for permit: AuthorizationPermit) -> RegistrationOutline? {
    guard permit.client.isUnlisted, ClientID.isIssued(permit.client.id.rawValue) else { return nil }
    return gateway.registrations?.outline(permit.client.id, redirectURI: permit.redirectURI, scope: permit.scope)
  }

  /// Returns the client of a transaction if the policy does not list it; `nil` if the policy lists it or permits it no
  /// longer. A registered client is made from the outline in the transaction.
  func unlistedClient(of transaction: AuthorizationTransaction) -> Client? {
    guard let outline = transaction.registration else { return unlistedClient(transaction.clientID.rawValue) }
    return gateway.registrations?.client(transaction.clientID, outline)
  }

  /// Returns the client of a transaction, whether the policy lists it or not.
  func client(of transaction: AuthorizationTransaction) -> Client? {
    policy.client(transaction.clientID, unlisted: unlistedClient(of: transaction))
  }

  /// Records the client of a transaction.
  func recordClient(of transaction: AuthorizationTransaction) {
    recordClient(id: transaction.clientID.rawValue, client: client(of: transaction))
  }
}
