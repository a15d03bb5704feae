import CLinux
import Synchronization
import Time

/// Resolves a host name outside the event loops and caches the answer.
///
/// An answer is fresh for 30 s. The first query after that starts a look-up and still gets the old answer. Once the answer
/// is outdated, because there was no query for another 5 s, `resolve` waits for the look-up. If a look-up fails, the last
/// good answer stays in use. Without queries no look-up runs.
public final class Resolver: Sendable {
  /// The usual time for which an answer is used without a new look-up. The system's resolver does not return the time
  /// to live of its answer.
  public static let freshness: Milliseconds = 30_000

  private struct State {
    var addresses: [Address] = []
    /// The time at which the last look-up ended, with an answer or a failure.
    var resolvedAt: MonotonicTime = 0
    var lookUpIsRunning = false
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
      if startsLookUp { state.lookUpIsRunning = true }
      return (state.addresses, startsLookUp)
    }
    if startsLookUp { lookUp() }
    return addresses.isEmpty ? nil : addresses
  }

  /// The time after which an answer that is no longer fresh is outdated. Under traffic, a look-up ends sooner.
  private var patience: Milliseconds { min(freshness, 5_000) }

  /// Returns true if the addresses may be those of other machines by now, so that a caller should wait for a look-up.
  public func isOutdated(now: MonotonicTime) -> Bool {
    literal == nil && state.withLock { !$0.addresses.isEmpty && now > $0.resolvedAt + freshness + patience }
  }

  /// Returns the addresses, after a look-up if necessary. Throws if the look-up fails and there is no former answer.
  public func resolve(on poller: Poller) async throws(ResolveError) -> [Address] {
    let cached = cachedAddresses(now: poller.now)
    if let cached, !isOutdated(now: poller.now) { return cached }
    let answer = await beginLookUp(on: poller).wait(on: poller)
    if case .failure = answer, let cached { return cached }
    return try answer.get()
  }

  /// Returns the addresses, after a look-up if necessary, or the reason why the look-up failed if there is no former
  /// answer. Returns `nil` if the deadline passes first; the look-up then continues, because the system's resolver has no
  /// deadline.
  public func resolve(on poller: Poller, until deadline: Deadline) async -> Result<[Address], ResolveError>? {
    let cached = cachedAddresses(now: poller.now)
    if let cached, !isOutdated(now: poller.now) { return .success(cached) }
    let answer = await beginLookUp(on: poller).wait(on: poller, until: deadline)
    guard let cached else { return answer }
    if case .success = answer { return answer }
    return .success(cached)
  }

  /// Starts a look-up unless one is running. Returns the value in which the result arrives.
  private func beginLookUp(on poller: Poller) -> AwaitedValue<Result<[Address], ResolveError>> {
    let answer = AwaitedValue<Result<[Address], ResolveError>>(on: poller)
    let startsLookUp = state.withLock { state in
      // A value that is abandoned needs no result any more.
      state.waiting.removeAll(where: \.isAbandoned)
      state.waiting.append(answer)
      defer { state.lookUpIsRunning = true }
      return !state.lookUpIsRunning
    }
    if startsLookUp { lookUp() }
    return answer
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
