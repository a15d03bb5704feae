import Admin
import Proxy
import Reactor
import Time

/// The service manager that has started this process, such as systemd for a unit with `Type=notify`. It receives the
/// state of the process (`sd_notify(3)`). Without a service manager, the functions do nothing.
struct ServiceManager: Sendable {
  private let socket: ServiceSocket?
  /// The time between two signs of life, a third of the time after which the service manager restarts the process;
  /// `nil` if it expects none.
  let watchdogInterval: Milliseconds?
  /// The number of descriptors that the service manager keeps for the next process (`FileDescriptorStoreMax=`); 0 if it
  /// keeps none.
  let storeCapacity: Int

  /// - Parameters:
  ///   - environment: The variables that the service manager sets.
  ///   - process: The id of this process. Signs of life are expected only of the process in `WATCHDOG_PID`.
  init(environment: [String: String], process: Int) {
    socket = environment["NOTIFY_SOCKET"].flatMap { ServiceSocket(path: $0) }
    storeCapacity = socket == nil ? 0 : max(0, environment["FDSTORE"].flatMap { Int($0) } ?? 0)
    let isMeant = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap { Int($0) } ?? 0
    watchdogInterval =
      socket != nil && isMeant && microseconds > 0 ? Milliseconds(max(1, microseconds / 3_000)) : nil
  }

  /// The time to wait for room in the manager's queue, for messages without which it would do something wrong.
  private static let patience: UInt32 = 10

  /// Reports that the process serves. Returns the reason why this failed: without the report, systemd ends the process
  /// after `TimeoutStartSec`.
  ///
  /// - Parameter status: One line for the operator.
  func reportReady(_ status: String) -> IOError? {
    do throws(IOError) {
      try socket?.send("READY=1\nSTATUS=\(status)", waitingAtMost: ServiceManager.patience)
      return nil
    } catch {
      return error
    }
  }

  /// Reports that a reload has begun. Its end is reported with `reportReady`.
  ///
  /// - Parameter nanoseconds: The time on the monotonic clock. systemd ignores a time before that of its own request.
  func reportReloading(at nanoseconds: UInt64) {
    try? socket?.send("RELOADING=1\nMONOTONIC_USEC=\(nanoseconds / 1_000)")
  }

  /// Puts the sockets of a listener in the descriptor store. Sockets that are there already are ignored.
  func store(_ listener: BoundListener) throws(IOError) {
    try socket?.send("FDSTORE=1\nFDNAME=\(InheritedSocket.storedName(of: listener.name))", listener.sockets)
  }

  /// Removes the sockets with a name of `InheritedSocket.storedName` from the descriptor store.
  func removeFromStore(_ name: String) {
    try? socket?.send("FDSTOREREMOVE=1\nFDNAME=\(name)", waitingAtMost: ServiceManager.patience)
  }

  /// Reports that the process ends, and asks for the time that a drain may take.
  func reportStopping(within time: Milliseconds) {
    // The time after the drain in which the log and the store are closed.
    let closing: Milliseconds = 10_000
    let message = "STOPPING=1\nEXTEND_TIMEOUT_USEC=\((time + closing).count * 1_000)"
    try? socket?.send(message, waitingAtMost: ServiceManager.patience)
  }

  /// Sends a sign of life.
  func keepAlive() {
    try? socket?.send("WATCHDOG=1")
  }
}

/// Sends signs of life to the service manager while no event loop is stalled. The main loop, on which it runs, shows that
/// it turns itself. Only a process with a watchdog wakes up for this.
final class Watchdog: Activity {
  private let poller: Poller
  private let manager: ServiceManager
  private let status: ProcessStatus
  private let interval: Milliseconds

  init(_ poller: Poller, _ manager: ServiceManager, _ status: ProcessStatus, every interval: Milliseconds) {
    self.poller = poller
    self.manager = manager
    self.status = status
    self.interval = interval
  }

  func run() async {
    let waiter = Waiter(poller)
    while true {
      if !status.hasStalledLoop(at: SystemClock.monotonicTime()) { manager.keepAlive() }
      _ = await waiter.sleep(until: poller.deadline(after: interval))
    }
  }
}
