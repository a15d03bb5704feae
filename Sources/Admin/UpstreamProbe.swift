import Proxy
public import Reactor
public import TLS
import Time

/// Tests whether the upstream accepts connections and, if it uses TLS, completes TLS handshakes. A test begins only
/// when `findProblem` is called, so that an idle process never wakes up.
///
/// Used only on the thread of its poller.
public final class UpstreamProbe {
  /// The maximum age of a result that is used again. If several orchestrators ask, the upstream gets only one
  /// connection in this time.
  private static let maximumResultAge: Milliseconds = 2_000
  /// The maximum duration of a test. It is below one second, the time for which orchestrators wait for a response by
  /// default.
  private static let timeout: Milliseconds = 900

  private let poller: Poller
  private let location: ServerLocation
  private let tls: @Sendable () -> TLSClient?
  private let handshakes: HandshakeGate
  /// The result of the latest complete test and the time of its end; `nil` before the first one. `problem` is `nil` if
  /// the test succeeded.
  private var latestResult: (problem: String?, time: MonotonicTime)?
  /// True while a test runs.
  private var isRunning = false
  /// The latest look-up of the upstream's name, complete or not; `nil` before the first one.
  private var lookUp: NameLookUp?
  /// The waiters of the callers that wait for the result of the running test.
  private var waiters: [Waiter] = []

  /// Creates a probe of the upstream at `location`.
  ///
  /// - Parameter tls: Returns the current TLS settings of the upstream; `nil` for plaintext.
  public init(_ poller: Poller, _ location: ServerLocation, tls: @escaping @Sendable () -> TLSClient?) {
    self.poller = poller
    self.tls = tls
    handshakes = HandshakeGate(poller)
    self.location = location
  }

  /// Returns the reason why the upstream does not accept connections or handshakes; `nil` if it does.
  public func findProblem() async -> String? {
    if let latestResult, poller.now - latestResult.time < UpstreamProbe.maximumResultAge {
      return latestResult.problem
    }
    if isRunning {
      let waiter = Waiter(poller)
      // The running test ends after `timeout` by itself. The longer deadline only ends a wait if the test does not.
      waiters.append(waiter)
      let wake = await waiter.sleep(until: poller.deadline(after: UpstreamProbe.timeout * 2))
      waiters.removeAll { $0 === waiter }
      waiter.cancelDeadline()
      // After a timeout, `latestResult` is the result of an earlier test and must not be used.
      guard wake == .ready, let latestResult else {
        return "no answer within \(UpstreamProbe.timeout.count * 2) ms"
      }
      return latestResult.problem
    }
    isRunning = true
    let problem = await testConnection()
    isRunning = false
    latestResult = (problem, poller.now)
    for waiter in waiters { waiter.resume(.ready) }
    waiters = []
    return problem
  }

  private func testConnection() async -> String? {
    let deadline = poller.deadline(after: UpstreamProbe.timeout)
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let resolver: Resolver
    switch location {
    case .unixSocket(let path): return await testUnixSocket(path, waiter, deadline)
    case .name(let name): resolver = name
    }
    let addresses: [Address]
    switch await lookUpAddresses(resolver, waiter, until: deadline) {
    case .success(let found)?: addresses = found
    case .failure(let error)?: return error.description
    case nil: return "no answer to the look-up of `\(resolver.host)` within \(UpstreamProbe.timeout.count) ms"
    }
    var problem = "no address"
    for address in addresses {
      do throws(ConnectError) {
        let socket = try await poller.connect(to: address, with: waiter, until: deadline)
        defer { socket.close() }
        return await handshake(socket, waiter, deadline).map { "\(address): \($0)" }
      } catch {
        switch error {
        case .timedOut: return "no answer from \(address) within \(UpstreamProbe.timeout.count) ms"
        // Does not occur: `connect` throws this error only if its caller passes a client, and the probe has none.
        case .clientDisconnected: return "the probe was cancelled"
        case .failed(let error): problem = "\(address): \(error)"
        }
      }
    }
    return problem
  }

  private func testUnixSocket(_ path: String, _ waiter: Waiter, _ deadline: Deadline) async -> String? {
    do throws(IOError) {
      let socket = try poller.connect(toUnixSocket: path)
      defer { socket.close() }
      return await handshake(socket, waiter, deadline).map { "\(path): \($0)" }
    } catch {
      // The server listens, and its queue is full: it is busy.
      return error == .wouldBlock ? nil : "\(path): \(error)"
    }
  }

  /// Returns the upstream's addresses; `nil` if the look-up is not complete at `deadline`. The look-up then continues,
  /// because the system's resolver has no deadline, and the next test waits for the same look-up.
  private func lookUpAddresses(
    _ resolver: Resolver, _ waiter: Waiter, until deadline: Deadline
  ) async -> Result<[Address], ResolveError>? {
    if let known = resolver.cachedAddresses(now: poller.now) { return .success(known) }
    let current: NameLookUp
    if let lookUp, lookUp.outcome == nil {
      current = lookUp
    } else {
      current = NameLookUp(resolver, poller)
      lookUp = current
      poller.start(current)
    }
    // The poller starts the look-up after this function has suspended, so the waiter cannot miss the result.
    current.add(waiter)
    if current.outcome == nil { _ = await waiter.sleep(until: deadline) }
    current.remove(waiter)
    return current.outcome
  }

  /// Returns the reason why the TLS handshake failed; `nil` if it succeeded or the upstream does not use TLS.
  private func handshake(_ socket: Socket, _ waiter: Waiter, _ deadline: Deadline) async -> TLSFailure? {
    guard let client = tls() else { return nil }
    do throws(TLSFailure) {
      try await client.connect(socket, with: waiter, gate: handshakes, until: deadline)
      return nil
    } catch {
      return error
    }
  }
}
