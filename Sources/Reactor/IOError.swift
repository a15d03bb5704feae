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

  package static let wouldBlock = IOError(code: 11)
  static let notPermitted = IOError(code: 1)
  static let interrupted = IOError(code: 4)
  /// EEXIST.
  package static let exists = IOError(code: 17)
  static let noNetwork = IOError(code: 64)
  package static let protocolViolation = IOError(code: 71)
  static let noProtocolOption = IOError(code: 92)
  static let notSupported = IOError(code: 95)
  static let networkDown = IOError(code: 100)
  static let networkUnreachable = IOError(code: 101)
  static let timedOut = IOError(code: 110)
  static let hostDown = IOError(code: 112)
  static let hostUnreachable = IOError(code: 113)
  package static let aborted = IOError(code: 103)
  package static let reset = IOError(code: 104)
  package static let addressInUse = IOError(code: 98)
  static let inProgress = IOError(code: 115)

  /// Returns `result`, the result of a function of CLinux. Throws the error if it is negative (-errno).
  static func check(_ result: Int32) throws(IOError) -> Int32 {
    guard result >= 0 else { throw IOError(code: -result) }
    return result
  }
}
