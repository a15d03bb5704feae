import CLinux

/// Delivers the signals TERM, INT, HUP and USR1 of the process as events of a worker.
///
/// `block` is called once, before any thread starts, so that every thread inherits the set of blocked signals.
public struct Signals: Sendable {
  /// A handled signal.
  public enum Signal: Sendable {
    case terminate
    case interrupt
    case hangup
    case user1
  }

  private let descriptor: Int32

  /// Blocks the signals. They wait until they are delivered; a signal that came earlier would end the process.
  public static func block() {
    cl_signals_block()
  }

  /// Restores the mask from before `block`, for a command that the signals end. A signal that has come meanwhile ends it.
  public static func unblock() {
    cl_signals_unblock()
  }

  /// Opens a descriptor from which the blocked signals are read. Throws the error of the system call that fails.
  public init() throws(IOError) {
    descriptor = try IOError.check(cl_signal_descriptor())
  }

  /// Returns an activity that calls `handle` for each signal, on the worker of `poller`. Throws if the descriptor
  /// cannot be registered.
  public func deliver(on poller: Poller, to handle: @escaping (Signal) -> Void) throws(IOError) -> any Activity {
    SignalReader(try poller.register(descriptor), poller, handle)
  }

  private final class SignalReader: Activity {
    private let socket: Socket
    private let waiter: Waiter
    private let handle: (Signal) -> Void

    init(_ socket: Socket, _ poller: Poller, _ handle: @escaping (Signal) -> Void) {
      self.socket = socket
      self.handle = handle
      waiter = Waiter(poller)
    }

    func run() async {
      while socket.isOpen {
        _ = await waiter.wait(socket, .readable, until: .never)
        let number = cl_signal_next(socket.descriptor)
        if number < 0 {
          socket.readiness.remove(.readable)
          guard IOError(code: -number) == .wouldBlock else { return }
          continue
        }
        switch number {
        case 15: handle(.terminate)
        case 2: handle(.interrupt)
        case 1: handle(.hangup)
        case 10: handle(.user1)
        default: break
        }
      }
    }
  }
}
