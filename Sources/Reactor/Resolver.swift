import CLinux
import Synchronization
import Time

/// Resolves a host name outside the event loops and caches the answer.
///
/// An answer is fresh for 30 s. The first query after that starts a look-up and still gets the old answer. If a look-up
/// fails, the last good answer stays in use. Without queries no look-up runs. So an answer can be outdated: older than
/// 35 s when a look-up starts. `renew` waits for the look-up in this case.
public final class Resolver: Sendable {
  /// The usual time for which an answer is used without a new look-up. The system's resolver does not return the time
  /// to live of its answer.
  public static let freshness: Milliseconds = 30_000

  private struct State {
    var addresses: [Address] = []
    /// The time at which the last look-up ended, with an answer or a failure.
    var resolvedAt: MonotonicTime = 0
    var lookUpIsRunning = false
    /// True if the answer was outdated when the running look-up started.
    var lookUpIsLate = false
    /// The callers of `resolve` that wait for the running look-up.
    var waiting: [AwaitedValue<Result<[Address], ResolveError>>] = []
  }

  /// A function that looks a name up; it blocks.
  package typealias LookUp = @Sendable (_ host: String, _ port: Int) -> Result<[Address], ResolveError>

  /// The host name or address literal.
  public let host: String
  /// The TCP port of the returned addresses.
  public let port: Int
  /// The time for which an answer of this resolver is used without a new look-up.
  public let freshness: Milliseconds
  private let lookUpFunction: LookUp
  private let literal: Address?
  private let state = Mutex(State())

  /// Creates a resolver that uses the system's `getaddrinfo`.
  public convenience init(host: String, port: Int) {
    self.init(host: host, port: port) { Resolver.lookUp($0, $1) }
  }

  package init(
    host: String, port: Int, freshness: Milliseconds = Resolver.freshness, lookUp: @escaping LookUp
  ) {
    self.host = host
    self.port = port
    self.freshness = freshness
    lookUpFunction = lookUp
    literal = Address(literal: host, port: port)
  }

  /// True if the host is an address literal, whose answer never changes.
  public var isLiteral: Bool { literal != nil }

  /// Returns the address if the host is a literal, otherwise the cached answer; `nil` if there is no answer yet.
  ///
  /// Starts a look-up in the background if the cached answer is no longer fresh.
  public func cachedAddresses(now: MonotonicTime) -> [Address]? {
    if let literal { return [literal] }
    let (addresses, startsLookUp) = state.withLock { state -> ([Address], Bool) in
      // Without a cached answer, `resolve` starts the look-up.
      let startsLookUp =
        !state.addresses.isEmpty && !state.lookUpIsRunning && now > state.resolvedAt + freshness
      if startsLookUp { beginLookUp(&state, now) }
      return (state.addresses, startsLookUp)
    }
    if startsLookUp { lookUp() }
    return addresses.isEmpty ? nil : addresses
  }

  /// Returns the addresses, after a look-up if necessary. Throws if the look-up fails.
  public func resolve(on poller: Poller) async throws(ResolveError) -> [Address] {
    if let cached = cachedAddresses(now: poller.now) { return cached }
    return try await beginLookUp(on: poller).wait(on: poller).get()
  }

  /// Returns the addresses, after a look-up if necessary, or the reason why the look-up failed. Returns `nil` if the
  /// deadline passes first; the look-up then continues, because the system's resolver has no deadline.
  public func resolve(on poller: Poller, until deadline: Deadline) async -> Result<[Address], ResolveError>? {
    if let cached = cachedAddresses(now: poller.now) { return .success(cached) }
    return await beginLookUp(on: poller).wait(on: poller, until: deadline)
  }

  /// Returns true if the addresses may be those of other machines by now, so that a caller should wait for `renew`. False
  /// if a look-up takes long that started in time.
  public func isOutdated(now: MonotonicTime) -> Bool {
    literal == nil && state.withLock { isOutdated($0, now) }
  }

  private func isOutdated(_ state: State, _ now: MonotonicTime) -> Bool {
    if state.addresses.isEmpty { return false }
    return state.lookUpIsRunning
      ? state.lookUpIsLate : now > state.resolvedAt + freshness + min(freshness, 5_000)
  }

  /// Returns the addresses, after a look-up if there is no answer or if it is outdated. Throws if the look-up fails and there
  /// is no former answer.
  public func renew(on poller: Poller) async throws(ResolveError) -> [Address] {
    if let literal { return [literal] }
    let answer = AwaitedValue<Result<[Address], ResolveError>>(on: poller)
    let (addresses, startsLookUp) = state.withLock { state -> ([Address]?, Bool) in
      if !state.addresses.isEmpty, !isOutdated(state, poller.now) { return (state.addresses, false) }
      return (nil, join(answer, &state, poller.now))
    }
    if let addresses { return addresses }
    if startsLookUp { lookUp() }
    let result = await answer.wait(on: poller)
    let former = state.withLock { $0.addresses }
    return try former.isEmpty ? result.get() : former
  }

  /// Starts a look-up unless one is running. Returns the value in which the result arrives.
  private func beginLookUp(on poller: Poller) -> AwaitedValue<Result<[Address], ResolveError>> {
    let answer = AwaitedValue<Result<[Address], ResolveError>>(on: poller)
    if state.withLock({ join(answer, &$0, poller.now) }) { lookUp() }
    return answer
  }

  /// Lets a value get the result of the next look-up. Returns true if the caller must start it.
  private func join(
    _ answer: AwaitedValue<Result<[Address], ResolveError>>, _ state: inout State, _ now: MonotonicTime
  ) -> Bool {
    // A value that is abandoned needs no result any more.
    state.waiting.removeAll(where: \.isAbandoned)
    state.waiting.append(answer)
    if state.lookUpIsRunning { return false }
    beginLookUp(&state, now)
    return true
  }

  private func beginLookUp(_ state: inout State, _ now: MonotonicTime) {
    state.lookUpIsLate = isOutdated(state, now)
    state.lookUpIsRunning = true
  }

  private func lookUp() {
    do throws(IOError) {
      // `lookUpIsRunning` limits each resolver to one thread at a time.
      try OSThread.start("resolver") { self.finish(self.lookUpFunction(self.host, self.port)) }
    } catch {
      finish(.failure(ResolveError(host: host, reason: error.description)))
    }
  }

  private func finish(_ result: Result<[Address], ResolveError>) {
    let waiting = state.withLock { state in
      state.lookUpIsRunning = false
      state.resolvedAt = SystemClock.monotonicTime()
      if case .success(let addresses) = result { state.addresses = addresses }
      defer { state.waiting = [] }
      return state.waiting
    }
    for answer in waiting { answer.deliver(result) }
  }

  private static func lookUp(_ host: String, _ port: Int) -> Result<[Address], ResolveError> {
    let capacity = 16
    var found: [cl_address] = Array(repeating: cl_address(), count: capacity)
    let count = unsafe found.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return Int32(0) }
      return unsafe cl_resolve(host, UInt16(clamping: port), base, Int32(capacity))
    }
    guard count > 0 else {
      let reason = count == 0 ? "no address" : unsafe String(cString: cl_resolve_error(count))
      return .failure(ResolveError(host: host, reason: reason))
    }
    return .success(found[..<Int(count)].map { Address($0) })
  }
}

/// A name that could not be resolved.
public struct ResolveError: Error, Sendable, CustomStringConvertible {
  /// The name that was looked up.
  public let host: String
  /// The message of the system's resolver.
  public let reason: String

  package init(host: String, reason: String) {
    self.host = host
    self.reason = reason
  }

  /// `cannot resolve`, with the name and the reason.
  public var description: String { "cannot resolve `\(host)`: \(reason)" }
}
