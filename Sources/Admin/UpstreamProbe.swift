import Proxy
public import Reactor
public import TLS
import Time

/// Tests whether the addresses of the upstream accept connections and, if it uses TLS, complete TLS handshakes. A test
/// begins only when `test` or `findProblem` is called, so that an idle process never wakes up.
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
  let servers: UpstreamServers
  private let tls: @Sendable () -> TLSClient?
  private let handshakes: HandshakeGate
  /// The result of the latest complete test and the time of its end; `nil` before the first one.
  private var latestResult: (result: UpstreamProbeResult, time: MonotonicTime)?
  /// True while a test runs.
  private var isRunning = false
  /// The latest look-up of each name of the upstream, complete or not, by its number; `nil` before the first one.
  private var lookUps: [NameLookUp?]
  /// The waiters of the callers that wait for the result of the running test.
  private var waiters: [Waiter] = []

  /// Creates a probe of the upstream.
  ///
  /// - Parameter tls: Returns the current TLS settings of the upstream; `nil` for plaintext.
  public init(_ poller: Poller, _ servers: UpstreamServers, tls: @escaping @Sendable () -> TLSClient?) {
    self.poller = poller
    self.tls = tls
    handshakes = HandshakeGate(poller)
    self.servers = servers
    lookUps = Array(repeating: nil, count: servers.locations.count)
  }

  /// Returns the reason why no address of the upstream accepts connections or handshakes; `nil` if one does.
  public func findProblem() async -> String? { await test().problem }

  /// Tests all addresses at the same time, or returns a result that is not older than two seconds.
  public func test() async -> UpstreamProbeResult {
    if let latestResult, poller.now - latestResult.time < UpstreamProbe.maximumResultAge {
      return latestResult.result
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
        return UpstreamProbeResult(problem: "no answer within \(UpstreamProbe.timeout.count * 2) ms")
      }
      return latestResult.result
    }
    isRunning = true
    let result = await testAddresses()
    isRunning = false
    latestResult = (result, poller.now)
    for waiter in waiters { waiter.resume(.ready) }
    waiters = []
    return result
  }

  private func testAddresses() async -> UpstreamProbeResult {
    let deadline = poller.deadline(after: UpstreamProbe.timeout)
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    let nameProblem = await lookUpNames(waiter, until: deadline)
    let addresses = servers.refresh(now: poller.now).addresses
    guard !addresses.isEmpty else { return UpstreamProbeResult(problem: nameProblem ?? "no address") }
    let tests = addresses.map {
      AddressTest($0, poller, tls(), handshakes, until: deadline, timeout: UpstreamProbe.timeout, caller: waiter)
    }
    for test in tests { poller.start(test) }
    // Each test ends at the deadline. The longer deadline only ends the wait if a test does not.
    let limit = poller.deadline(after: UpstreamProbe.timeout * 2)
    while tests.contains(where: { $0.outcome == nil }), poller.now < limit { _ = await waiter.sleep(until: limit) }
    return UpstreamProbeResult(
      tests.map { test in
        let problem: String? =
          switch test.outcome {
          case .success?: test.address.checkResults.problem.map { "the health check fails: \($0)" }
          case .failure(let failure)?: failure.text
          case nil: "no answer"
          }
        return UpstreamProbeResult.AddressState(
          name: test.address.name, problem: problem, isReachable: (try? test.outcome?.get()) != nil,
          isOutOfService: test.address.isOut)
      })
  }

  /// Waits until each name has an answer, or the deadline. Returns the reason why a name has none. A look-up continues
  /// after the deadline, because the system's resolver has no deadline, and the next test waits for the same look-up.
  private func lookUpNames(_ waiter: Waiter, until deadline: Deadline) async -> String? {
    var running: [(name: String, lookUp: NameLookUp)] = []
    for (index, location) in servers.locations.enumerated() {
      guard case .name(let resolver) = location, resolver.cachedAddresses(now: poller.now) == nil else { continue }
      if let lookUp = lookUps[index], lookUp.outcome == nil {
        running.append((resolver.host, lookUp))
      } else {
        let lookUp = NameLookUp(resolver, poller)
        lookUps[index] = lookUp
        poller.start(lookUp)
        running.append((resolver.host, lookUp))
      }
    }
    // The poller starts a look-up after this function has suspended, so the waiter cannot miss the result.
    for (_, lookUp) in running { lookUp.add(waiter) }
    while running.contains(where: { $0.lookUp.outcome == nil }), poller.now < deadline {
      _ = await waiter.sleep(until: deadline)
    }
    for (_, lookUp) in running { lookUp.remove(waiter) }
    for (name, lookUp) in running {
      switch lookUp.outcome {
      case .success?: continue
      case .failure(let error)?: return error.description
      case nil: return "no answer to the look-up of `\(name)` within \(UpstreamProbe.timeout.count) ms"
      }
    }
    return nil
  }
}

/// The result of a test of all addresses of the upstream.
public struct UpstreamProbeResult: Sendable {
  /// The result for one address.
  public struct AddressState: Equatable, Sendable {
    /// The address as text.
    public let name: String
    /// The reason why the address does not accept connections or handshakes, or why it fails its health check; `nil` if
    /// there is no such problem.
    public let problem: String?
    /// True if the address accepts connections and handshakes.
    public let isReachable: Bool
    /// True if requests avoid the address, because it has failed.
    public let isOutOfService: Bool
  }

  /// The addresses; empty if no name could be resolved.
  public let addresses: [AddressState]
  /// The reason why no address can be used; `nil` if one can.
  public let problem: String?

  /// True if an address accepts connections and handshakes.
  var isReachable: Bool { addresses.contains(where: \.isReachable) }

  init(problem: String) {
    addresses = []
    self.problem = problem
  }

  init(_ addresses: [AddressState]) {
    self.addresses = addresses
    problem =
      addresses.contains { $0.problem == nil }
      ? nil : addresses.map { "\($0.name): \($0.problem ?? "")" }.joined(separator: "; ")
  }
}

/// The test of one address.
private final class AddressTest: Activity {
  struct Failure: Error {
    let text: String
  }

  let address: UpstreamAddress
  /// `nil` while the test runs.
  private(set) var outcome: Result<Void, Failure>?
  private let poller: Poller
  private let tls: TLSClient?
  private let handshakes: HandshakeGate
  private let deadline: Deadline
  private let timeout: Milliseconds
  /// The waiter of the task that waits for the outcome.
  private let caller: Waiter

  init(
    _ address: UpstreamAddress, _ poller: Poller, _ tls: TLSClient?, _ handshakes: HandshakeGate,
    until deadline: Deadline, timeout: Milliseconds, caller: Waiter
  ) {
    self.address = address
    self.poller = poller
    self.tls = tls
    self.handshakes = handshakes
    self.deadline = deadline
    self.timeout = timeout
    self.caller = caller
  }

  func run() async {
    let waiter = Waiter(poller)
    defer { waiter.cancelDeadline() }
    do throws(Failure) {
      if let socket = try await connect(waiter) {
        defer { socket.close() }
        try await handshake(socket, waiter)
      }
      outcome = .success(())
    } catch {
      outcome = .failure(error)
    }
    caller.resume(.ready)
  }

  /// Returns a connection; `nil` if a server listens on a Unix socket, but its queue is full: it is busy.
  private func connect(_ waiter: Waiter) async throws(Failure) -> Socket? {
    switch address.place {
    case .unixSocket(let path):
      do throws(IOError) {
        return try poller.connect(toUnixSocket: path)
      } catch {
        if error == .wouldBlock { return nil }
        throw Failure(text: error.description)
      }
    case .socket(let address):
      do throws(ConnectError) {
        return try await poller.connect(to: address, with: waiter, until: deadline)
      } catch {
        switch error {
        case .timedOut: throw Failure(text: "no answer within \(timeout.count) ms")
        // Does not occur: `connect` throws this error only if its caller passes a client, and the probe has none.
        case .clientDisconnected: throw Failure(text: "the probe was cancelled")
        case .failed(let error): throw Failure(text: error.description)
        }
      }
    }
  }

  private func handshake(_ socket: Socket, _ waiter: Waiter) async throws(Failure) {
    guard let tls else { return }
    do throws(TLSFailure) {
      try await tls.connect(socket, with: waiter, gate: handshakes, until: deadline)
    } catch {
      throw Failure(text: "\(error)")
    }
  }
}
