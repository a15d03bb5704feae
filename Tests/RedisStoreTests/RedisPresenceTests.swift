import OAuth
import RedisTestSupport
import Stores
import Testing
import Time

@testable import RedisStore

@Suite("The key of a process that holds claims")
struct RedisPresenceTests {
  private let presence = RedisPresence()
  private let epoch = EpochID(rawValue: 1)

  /// Writes the key and gets the reply at the same time.
  private func write(now: MonotonicTime) throws {
    try #require(presence.dueWrite(hasCommands: false, now: now)).confirm(now: now)
  }

  /// Sends a write if one is due. Returns true if it was.
  private func sends(hasCommands: Bool, now: MonotonicTime) -> Bool {
    presence.dueWrite(hasCommands: hasCommands, now: now) != nil
  }

  @Test("A process without claims writes no key and does not wake up")
  func idle() throws {
    #expect(presence.nextWrite == nil)
    #expect(!sends(hasCommands: true, now: 0))
    _ = presence.beginHold(now: 0)
    #expect(presence.nextWrite == MonotonicTime(milliseconds: 0))
    try write(now: 0)
    presence.endHold()
    #expect(presence.nextWrite == nil)
    #expect(!sends(hasCommands: true, now: 4_000))
  }

  @Test("The key is written in front of the first commands of each worker until one write is confirmed")
  func first() throws {
    let claimant = presence.beginHold(now: 0)
    let first = try #require(presence.dueWrite(hasCommands: true, now: 0))
    #expect(first.claimant == claimant)
    #expect(!sends(hasCommands: false, now: 1))
    #expect(sends(hasCommands: true, now: 1))
    #expect(!presence.isAlive(claimant, for: 0, now: 2))
    first.confirm(now: 2)
    #expect(presence.isAlive(claimant, for: 0, now: 2))
    #expect(!sends(hasCommands: true, now: 3))
  }

  @Test("The key is written again after 1.5 s, or earlier if commands follow and it is about to end")
  func again() throws {
    _ = presence.beginHold(now: 0)
    try write(now: 0)
    #expect(presence.nextWrite == MonotonicTime(milliseconds: 1_500))
    #expect(!sends(hasCommands: true, now: 1_499))
    // This write is not confirmed.
    #expect(sends(hasCommands: false, now: 1_500))
    #expect(!sends(hasCommands: true, now: 2_000))
    #expect(sends(hasCommands: true, now: 2_001))
    #expect(!sends(hasCommands: false, now: 2_001))
  }

  @Test("I-token: the time of the key counts from the moment before the write was sent")
  func lifetime() throws {
    let claimant = presence.beginHold(now: 0)
    let write = try #require(presence.dueWrite(hasCommands: true, now: 100))
    write.confirm(now: 900)
    #expect(presence.isAlive(claimant, for: 1_000, now: 4_099))
    #expect(!presence.isAlive(claimant, for: 1_000, now: 4_100))
    #expect(!presence.isAlive(claimant, for: 0, now: 5_100))
  }

  @Test("I-token: an id whose time has passed is not used again, and a late reply does not revive it")
  func passed() throws {
    let claimant = presence.beginHold(now: 0)
    try write(now: 0)
    let late = try #require(presence.dueWrite(hasCommands: false, now: 4_000))
    late.confirm(now: 5_000)
    #expect(!presence.isAlive(claimant, for: 0, now: 5_000))
    let next = presence.beginHold(now: 5_000)
    #expect(next != claimant)
    try write(now: 5_000)
    #expect(presence.isAlive(next, for: 0, now: 5_001))
    #expect(!presence.isAlive(claimant, for: 0, now: 5_001))
  }

  @Test("A process is gone only if its key has been missing for three seconds, ten seconds after the epoch began")
  func missing() {
    let other = ClaimantID()
    #expect(!presence.canFindGone(other, in: epoch, now: 0))
    presence.recordConnection(epoch, now: 0)
    #expect(!presence.canFindGone(other, in: epoch, now: 9_999))
    #expect(presence.canFindGone(other, in: epoch, now: 10_000))
    #expect(!presence.canFindGone(other, in: EpochID(rawValue: 3), now: 10_000))
    #expect(!presence.canFindGone(presence.beginHold(now: 10_000), in: epoch, now: 10_000))
    #expect(!presence.recordMissing(other, now: 10_000))
    #expect(!presence.recordMissing(other, now: 12_999))
    #expect(presence.recordMissing(other, now: 13_000))
  }

  @Test("A key that appears, and a new connection, begin the time of a missing key again")
  func reconnected() {
    let other = ClaimantID()
    presence.recordConnection(epoch, now: 0)
    #expect(!presence.recordMissing(other, now: 10_000))
    presence.recordConnection(epoch, now: 11_000)
    #expect(presence.canFindGone(other, in: epoch, now: 13_000))
    #expect(!presence.recordMissing(other, now: 13_000))
    presence.recordPresent(other)
    #expect(!presence.recordMissing(other, now: 16_000))
    #expect(presence.recordMissing(other, now: 19_000))
  }

  @Test("With too many missing keys, a process counts as alive")
  func full() {
    for _ in 0..<RedisLimits.maximumMissing { #expect(!presence.recordMissing(ClaimantID(), now: 0)) }
    let other = ClaimantID()
    #expect(!presence.recordMissing(other, now: 1_000))
    #expect(!presence.recordMissing(other, now: 9_000))
    #expect(!presence.recordMissing(other, now: 600_000))
    #expect(presence.recordMissing(other, now: 603_000))
  }
}

@Suite("The key of a process on a server", .serialized)
struct RedisPresenceServerTests {
  @Test("I-token: the key of a process exists when its first claim is answered, and is not written without a claim")
  func before() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      #expect(try await store.put(.sample(.claim, 1)) == nil)
      #expect(try server.command("KEYS", "*alive*").isEmpty)
      let claimant = store.store.beginHold()
      #expect(!store.store.isAlive(claimant, for: 0))
      #expect(try await store.put(.sample(.claim, 2)) == nil)
      #expect(store.store.isAlive(claimant, for: 1_000))
      let key = String(decoding: store.store.presenceKey(claimant), as: UTF8.self)
      #expect(try server.command("KEYS", "*alive*").contains(key))
      #expect(await !store.store.isGone(claimant))
      store.store.endHold()
    }
  }

  @Test("While the server is away or its epoch is new, no process is gone")
  func unknown() async throws {
    let server = try RedisProcess()
    try await StoreOnWorkers.run(server.settings) { store async throws in
      #expect(await !store.store.isGone(ClaimantID()))
      server.kill()
      #expect(await !store.store.isGone(ClaimantID()))
    }
  }
}
