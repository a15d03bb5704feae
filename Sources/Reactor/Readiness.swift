import CLinux

/// The operations that are possible on a socket without blocking, and the states that the kernel has reported.
public struct Readiness: OptionSet, Sendable {
  /// The combined `CL_…` bits of CLinux.
  public let rawValue: UInt8

  /// Creates a set from `CL_…` bits.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// A receive may return bytes, an end or an error.
  public static let readable = Readiness(rawValue: UInt8(CL_READABLE))
  /// A send may accept bytes.
  public static let writable = Readiness(rawValue: UInt8(CL_WRITABLE))
  /// The peer has shut down its sending side: reads return the remaining bytes and then the end.
  public static let readClosed = Readiness(rawValue: UInt8(CL_READ_CLOSED))
  /// Both directions are closed, or an error is pending.
  public static let broken = Readiness(rawValue: UInt8(CL_BROKEN))
  /// The peer has sent urgent data: a read stops in front of the urgent byte, even if bytes follow.
  public static let urgent = Readiness(rawValue: UInt8(CL_URGENT))
  /// The states in which a short read does not mean that the kernel's queue is empty.
  public static let mayHideMore: Readiness = [.readClosed, .broken, .urgent]
}

/// The result of a receive or send.
public enum Transfer: Equatable, Sendable {
  /// The number of bytes moved; never 0.
  case moved(Int)
  /// No bytes were moved; wait for the next event.
  case wouldBlock
  /// The peer has ended its sending side (receive only).
  case ended
  /// The connection is broken or was closed.
  case failed(IOError)
}

/// Receives the events of a socket for which no task waits.
public protocol SocketObserver: AnyObject {
  /// Called for an event; `socket.readiness` already includes it.
  func socketIsReady(_ socket: Socket)
  /// Called when the worker begins to drain: no new request may begin on this socket.
  func workerIsDraining()
}
