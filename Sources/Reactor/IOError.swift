import CLinux

/// A failed system call, identified by its errno value.
public struct IOError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The errno value, positive.
  public let code: Int32

  /// Creates an error from a positive errno value.
  public init(code: Int32) {
    self.code = code
  }

  /// The message of the C library for the code.
  public var description: String { unsafe String(cString: cl_error_text(code)) }

  /// `EAGAIN`: the call would block.
  package static let wouldBlock = IOError(code: 11)
  /// `EPERM`.
  public static let notPermitted = IOError(code: 1)
  /// `ENOENT`: there is no such file or directory.
  public static let noEntry = IOError(code: 2)
  /// `EINTR`: a signal interrupted the call.
  static let interrupted = IOError(code: 4)
  /// `ENOMEM`: the system has no memory.
  public static let noMemory = IOError(code: 12)
  /// `EACCES`: the user lacks a permission.
  public static let accessDenied = IOError(code: 13)
  /// `EEXIST`: a file with this name already exists.
  public static let exists = IOError(code: 17)
  /// `ENOTDIR`: a part of a path is not a directory.
  public static let notDirectory = IOError(code: 20)
  /// `EINVAL`.
  public static let invalidArgument = IOError(code: 22)
  /// `EPIPE`: the peer no longer receives.
  public static let brokenPipe = IOError(code: 32)
  /// `ESHUTDOWN`: the socket was shut down.
  public static let shutDown = IOError(code: 108)
  /// `ENONET`.
  static let noNetwork = IOError(code: 64)
  /// `EPROTO`: the peer violates the protocol.
  public static let protocolViolation = IOError(code: 71)
  /// `EPROTOTYPE`: a socket is of another type.
  public static let wrongSocketType = IOError(code: 91)
  /// `ENOPROTOOPT`.
  static let noProtocolOption = IOError(code: 92)
  /// `EOPNOTSUPP`.
  public static let notSupported = IOError(code: 95)
  /// `EADDRINUSE`: another socket has the port.
  public static let addressInUse = IOError(code: 98)
  /// `EADDRNOTAVAIL`: the machine does not have the address.
  public static let addressNotAvailable = IOError(code: 99)
  /// `ENETDOWN`.
  static let networkDown = IOError(code: 100)
  /// `ENETUNREACH`.
  static let networkUnreachable = IOError(code: 101)
  /// `ECONNABORTED`: this side has closed or aborted the connection. From accept(2): the peer has aborted the
  /// connection while it was queued.
  public static let aborted = IOError(code: 103)
  /// `ECONNRESET`: the peer has reset the connection.
  public static let reset = IOError(code: 104)
  /// `ETIMEDOUT`.
  static let timedOut = IOError(code: 110)
  /// `ECONNREFUSED`: nothing listens on the port.
  public static let refused = IOError(code: 111)
  /// `EHOSTDOWN`.
  static let hostDown = IOError(code: 112)
  /// `EHOSTUNREACH`.
  static let hostUnreachable = IOError(code: 113)
  /// `EINPROGRESS`: the connection is not established yet.
  static let inProgress = IOError(code: 115)

  /// Returns `result`, the result of a function of CLinux. Throws the error if it is negative (-errno).
  static func check(_ result: Int32) throws(IOError) -> Int32 {
    guard result >= 0 else { throw IOError(code: -result) }
    return result
  }
}
