internal import ByteText
import Cryptography
import Enforcement
import OAuth
import Policy
import Sealing
import Stores
import Time

/// The records of device flows in the store (RFC 8628). Each change compares the record with the one that was read, so of
/// two concurrent changes only one takes place.
///
/// The keys of user codes are keyed hashes (`Sealer.storeNames(of:)`): a code has so few letters that it could be found
/// from a plain hash.
struct DeviceFlows {
  /// The number of random bytes for a user code. Nearly all of them are usable.
  private static let randomLength = 64
  /// The number of times that a code is chosen again because the same code is live, or that a change is tried again
  /// because of a concurrent change.
  private static let maximumAttempts = 5

  let sealer: Sealer
  let store: any EphemeralStore

  /// A record, and its present value in the store.
  struct Entry {
    let id: TransactionID
    let flow: DeviceFlow
    fileprivate let stored: [UInt8]
  }

  // MARK: Start

  /// Stores a new flow with a new user code, and returns the flow. Throws `.full` if no free code was found.
  ///
  /// - Parameters:
  ///   - permit: The permission to start the flow.
  ///   - id: The id of the flow.
  ///   - length: The number of letters of the user code.
  ///   - network: The network of the device, which the user will see.
  ///   - holder: The client and network to which the entries are charged.
  func start(
    _ permit: DeviceAuthorizationPermit, _ id: TransactionID, codeLength length: Int, network: String,
    holder: StoreHolder, now: UnixTime
  ) async throws(StoreError) -> DeviceFlow {
    let expiry = now + permit.client.deviceCodeLifetime
    for _ in 0..<DeviceFlows.maximumAttempts {
      guard let code = UserCode(length: length, random: randomBytes(DeviceFlows.randomLength)),
        let codeKey = keys(of: code).first
      else { continue }
      guard try await store.put(codeKey, id.bytes, holder: holder, expiry: expiry, now: now) == nil else { continue }
      let flow = DeviceFlow(
        clientID: permit.client.id, scope: permit.scope, resource: permit.resource?.uri.text, userCode: code,
        network: network, start: now, expiry: expiry)
      _ = try await store.put(key(id), stored(flow, id), holder: holder, expiry: end(of: flow), now: now)
      return flow
    }
    throw .full
  }

  // MARK: Reading

  /// Returns the flow; `nil` if the store has none.
  func find(_ id: TransactionID, now: UnixTime) async throws(StoreError) -> Entry? {
    guard let stored = try await store.get(key(id), now: now),
      let flow = try? sealer.open(DeviceFlow.self, from: String(stored: stored), in: key(id).binding(store))
    else { return nil }
    return Entry(id: id, flow: flow, stored: stored)
  }

  /// Returns the live flow of a user code; `nil` if there is none.
  func find(_ code: UserCode, now: UnixTime) async throws(StoreError) -> Entry? {
    for key in keys(of: code) {
      guard let bytes = try await store.get(key, now: now), let id = TransactionID(bytes: bytes),
        let entry = try await find(id, now: now)
      else { continue }
      // The record contains the code, so another entry of the store cannot lead to a flow with another code.
      guard entry.flow.userCode == code, now < entry.flow.expiry else { continue }
      return entry
    }
    return nil
  }

  // MARK: Changes

  /// Changes a flow. Reads it again after a concurrent change.
  ///
  /// - Parameters:
  ///   - id: The id of the flow.
  ///   - change: Returns the changed flow; `nil` to leave it as it is.
  /// - Returns: The flow before the change, and the flow after it, which is `nil` if it was left as it is. `nil` if the
  ///   store has no such flow.
  func update(
    _ id: TransactionID, now: UnixTime, _ change: (DeviceFlow) -> DeviceFlow?
  ) async throws(StoreError) -> (before: DeviceFlow, after: DeviceFlow?)? {
    for _ in 0..<DeviceFlows.maximumAttempts {
      guard let entry = try await find(id, now: now) else { return nil }
      guard let changed = change(entry.flow) else { return (entry.flow, nil) }
      let isReplaced = try await store.replace(
        key(id), entry.stored, with: stored(changed, id), expiry: end(of: changed), now: now)
      if isReplaced { return (entry.flow, changed) }
    }
    throw .unavailable("a device flow changes all the time")
  }

  /// Removes the user code of a flow, so that no browser can enter it again.
  func removeCode(of flow: DeviceFlow, now: UnixTime) async throws(StoreError) {
    for key in keys(of: flow.userCode) { _ = try await store.take(key, now: now) }
  }

  // MARK: The approved code

  /// Stores the upstream's code that the user has approved. Returns false if the flow has another one.
  func storeAnswer(
    _ code: IssuedCode, of id: TransactionID, holder: StoreHolder, now: UnixTime
  ) async throws(StoreError) -> Bool {
    let key = StoreKey(.deviceAnswer, id: id)
    let sealed = sealer.seal(code, in: key.binding(store)).storedBytes
    return try await store.put(key, sealed, holder: holder, expiry: code.expiry, now: now) == nil
  }

  /// Returns the code that the user has approved; `nil` if there is none any more.
  func answer(of id: TransactionID, now: UnixTime) async throws(StoreError) -> IssuedCode? {
    let key = StoreKey(.deviceAnswer, id: id)
    guard let sealed = try await store.get(key, now: now) else { return nil }
    return try? sealer.open(IssuedCode.self, from: String(stored: sealed), in: key.binding(store))
  }

  /// Removes the code that the user has approved.
  func removeAnswer(of id: TransactionID, now: UnixTime) async throws(StoreError) {
    _ = try await store.take(StoreKey(.deviceAnswer, id: id), now: now)
  }

  // MARK: Entries

  private func key(_ id: TransactionID) -> StoreKey { StoreKey(.device, id: id) }

  private func keys(of code: UserCode) -> [StoreKey] {
    sealer.storeNames(of: Array("user code \(code.letters)".utf8)).map { StoreKey(.userCode, hashing: $0) }
  }

  private func stored(_ flow: DeviceFlow, _ id: TransactionID) -> [UInt8] {
    sealer.seal(flow, in: key(id).binding(store)).storedBytes
  }

  /// The time until which the store keeps a record. Clocks of replicas differ.
  private func end(of flow: DeviceFlow) -> UnixTime { flow.expiry + store.clockTolerance }
}

extension Gateway {
  /// The records of device flows.
  var deviceFlows: DeviceFlows { DeviceFlows(sealer: sealer, store: resources.store) }
}
