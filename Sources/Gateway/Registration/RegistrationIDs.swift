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
    guard ClientID.isIssued(id), id.utf8.count <= ClientID.maximumIssuedLength else { return nil }
    let sealed = String(id.dropFirst(ClientID.issuedPrefix.utf8.count))
    guard let registration = try? sealer.open(ClientRegistration.self, from: sealed), isAccepted(registration.quarter)
    else { return nil }
    guard registration.instance != nil else { return settings.rules.client(ClientID(id), registration.metadata) }
    guard let secret = try? sealer.clientSecret(of: sealed) else { return nil }
    return settings.rules.client(ClientID(id), registration.metadata, secret: secret)
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

  /// Returns true if the policy lists the client of a token, or permits it as a registered client or one with a
  /// document, with the resource of the token. The whole deny-list applies: the id of a registered client contains its metadata, and the record of a
  /// token has those in a document.
  func permitsClient(of record: AccessTokenRecord) -> Bool {
    let id = record.clientID
    if policy.clients[id] != nil { return true }
    if let client = registeredClient(id.rawValue) { return permits(record.resource, to: client) }
    guard let settings = policy.clientDocuments, let url = settings.url(id.rawValue), let document = record.document
    else { return false }
    return settings.client(url, document).map { permits(record.resource, to: $0) } ?? false
  }

  /// Returns true if the policy still permits the resource of a token to a client that it does not list.
  private func permits(_ resource: String?, to client: Client) -> Bool {
    guard let resource else { return true }
    return policy.resources[resource]?.isWithinLimits(of: client) ?? false
  }
}
