import HTTP1
import Reactor
import Time

/// The active checks of all addresses of the upstream, by one worker of a process.
///
/// A timer begins a round of checks, one for each address, with connections of their own. Rounds vary by a tenth of the
/// interval, so that the checks of several gateways do not coincide. A worker without this object sets no timer.
final class HealthChecks: TimerOwner {
  private(set) var check: HealthCheck
  private let pool: UpstreamPool
  private let timer = Timer()
  private var isStopped = false
  /// The fields of a response; a head is parsed and evaluated within one call.
  let fields = HeadIndex()
  /// The addresses whose checks have not ended.
  private var running: Set<ObjectIdentifier> = []
  /// The time until the first round, and until the next one while no name of the upstream has an address.
  private static let firstDelay: Milliseconds = 100

  init(_ check: HealthCheck, _ pool: UpstreamPool) {
    self.check = check
    self.pool = pool
    pool.poller.arm(timer, for: self, after: HealthChecks.firstDelay)
  }

  private var poller: Poller { pool.poller }

  /// Continues with another setting.
  func follow(_ check: HealthCheck) {
    guard check != self.check else { return }
    self.check = check
    poller.arm(timer, for: self, after: HealthChecks.firstDelay)
  }

  /// Begins no further round. Checks in progress end within their time.
  func stop() {
    isStopped = true
    poller.disarm(timer)
  }

  func timerExpired() {
    guard !isStopped, !poller.isDraining else { return }
    pool.refreshTargets()
    for target in pool.targets where running.insert(ObjectIdentifier(target.address)).inserted {
      poller.start(HealthProbe(target.address, self, pool))
    }
    let tenth = check.interval.count / 10
    let pause = Milliseconds(check.interval.count - tenth + Int.random(in: 0...2 * tenth))
    poller.arm(timer, for: self, after: pool.targets.isEmpty ? HealthChecks.firstDelay * 10 : pause)
  }

  /// Records the result of a check.
  ///
  /// - Parameter failure: the reason of a failure; `nil` for a success.
  func record(_ failure: String?, of address: UpstreamAddress) {
    // The setting may have been removed during the check.
    guard !isStopped else { return }
    switch address.noteCheck(failure, check, now: poller.now) {
    case .out?: pool.metrics.upstreamCheckChanged(address.name, problem: failure)
    case .back?: pool.metrics.upstreamCheckChanged(address.name, problem: nil)
    case nil: break
    }
  }

  func finished(_ address: UpstreamAddress) {
    running.remove(ObjectIdentifier(address))
  }
}

/// One check of one address: a request on a connection of its own.
private final class HealthProbe: Activity {
  private let address: UpstreamAddress
  private let checks: HealthChecks
  private let pool: UpstreamPool
  /// The maximum number of bytes of a response body that are read.
  private static let bodyLimit = 64 * 1024

  init(_ address: UpstreamAddress, _ checks: HealthChecks, _ pool: UpstreamPool) {
    self.address = address
    self.checks = checks
    self.pool = pool
  }

  private struct Failure: Error {
    let text: String
  }

  func run() async {
    let waiter = Waiter(pool.poller)
    let deadline = pool.poller.deadline(after: checks.check.timeout)
    do throws(ConnectionTestFailure) {
      let socket = try await pool.openTestConnection(to: address, with: waiter, until: deadline)
      await check(socket, waiter, until: deadline)
      socket.close()
    } catch {
      checks.record(error.text, of: address)
    }
    waiter.cancelDeadline()
    checks.finished(address)
  }

  private func check(_ socket: Socket, _ waiter: Waiter, until deadline: Deadline) async {
    // A lack of memory here says nothing about the server.
    guard let buffer = pool.poller.buffers.take() else { return }
    defer { pool.poller.buffers.giveBack(buffer) }
    writeRequest(to: buffer)
    do throws(Failure) {
      try await send(buffer, socket, waiter, until: deadline)
      let head = try await readHead(buffer, socket, waiter, until: deadline)
      checks.record(checks.check.isHealthy(head.status) ? nil : "status \(head.status)", of: address)
      let received = buffer.count - head.length
      await skip(rest(of: head.body) - received, buffer, socket, waiter, until: deadline)
    } catch {
      checks.record(error.text, of: address)
    }
  }

  /// Returns the number of bytes of a body that are read, so that a server that still sends sees no reset.
  private func rest(of body: BodyFraming) -> Int {
    switch body {
    case .none: 0
    case .length(let count): min(count, HealthProbe.bodyLimit)
    case .chunked, .untilClose: HealthProbe.bodyLimit
    }
  }

  private func writeRequest(to buffer: Buffer) {
    buffer.append(Array("GET \(checks.check.path) HTTP/1.1\r\n".utf8))
    buffer.append(pool.settings.hostLine)
    buffer.append(pool.settings.viaLineOfHTTP11)
    buffer.append("User-Agent: proofgate\r\nAccept: */*\r\nConnection: close\r\n\r\n")
  }

  private func send(
    _ buffer: Buffer, _ socket: Socket, _ waiter: Waiter, until deadline: Deadline
  ) async throws(Failure) {
    while !buffer.isEmpty {
      switch socket.send(buffer) {
      case .moved: continue
      case .wouldBlock:
        if await waiter.wait(socket, .writable, until: deadline) == .timedOut { throw timeout }
      case .ended, .failed: throw Failure(text: "the connection was closed")
      }
    }
  }

  /// Receives the head of the response, whose length the buffer limits, and returns it. The head stays in the buffer.
  private func readHead(
    _ buffer: Buffer, _ socket: Socket, _ waiter: Waiter, until deadline: Deadline
  ) async throws(Failure) -> ResponseHead {
    var reader = ResponseHeadReader()
    buffer.clear()
    while true {
      do throws(UpstreamFailure) {
        if let head = try reader.parse(buffer, to: .get, limits: .standard, into: checks.fields) { return head }
      } catch {
        throw Failure(text: "no valid response")
      }
      if await waiter.wait(socket, .readable, until: deadline) == .timedOut { throw timeout }
      if buffer.receiveRoom == 0 { buffer.compact() }
      switch socket.receive(into: buffer) {
      case .moved, .wouldBlock: continue
      case .ended, .failed: throw Failure(text: "the connection was closed")
      }
    }
  }

  /// Receives and discards `count` bytes.
  private func skip(
    _ count: Int, _ buffer: Buffer, _ socket: Socket, _ waiter: Waiter, until deadline: Deadline
  ) async {
    var left = count
    while left > 0 {
      buffer.clear()
      guard await waiter.wait(socket, .readable, until: deadline) == .ready else { return }
      switch socket.receive(into: buffer) {
      case .moved(let count): left -= count
      case .wouldBlock: continue
      case .ended, .failed: return
      }
    }
  }

  private var timeout: Failure { Failure(text: "no response within \(checks.check.timeout.count) ms") }
}
