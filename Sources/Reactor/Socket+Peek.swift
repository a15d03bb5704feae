import CLinux

extension Socket {
  /// Copies what has arrived into the empty buffer and leaves it where it is, for bytes in front of the protocol.
  ///
  /// `.moved` says how much there is now. A wait after it ends when more has come; so whoever then takes the bytes calls
  /// `receive(into:upTo:)`, which makes the rest known again.
  public func peek(into buffer: Buffer) -> Transfer {
    guard descriptor >= 0 else { return .failed(IOError(code: 103)) }
    let received = unsafe buffer.fill { bytes, count in unsafe cl_peek(descriptor, bytes, count) }
    if received > 0 {
      readiness.remove(.readable)
      return .moved(Int(received))
    }
    if received == 0 { return .ended }
    let error = IOError(code: Int32(-received))
    readiness.remove(.readable)
    return error == .wouldBlock ? .wouldBlock : .failed(error)
  }

  /// Receives at most `limit` bytes, that a `peek` has seen.
  public func receive(into buffer: Buffer, upTo limit: Int) -> Transfer {
    guard descriptor >= 0 else { return .failed(IOError(code: 103)) }
    let received = unsafe buffer.fill { bytes, count in unsafe cl_receive(descriptor, bytes, min(count, limit)) }
    // What follows may have come already, and no event will tell of it.
    readiness.insert(.readable)
    guard received > 0 else { return received == 0 ? .ended : .failed(IOError(code: Int32(-received))) }
    return .moved(Int(received))
  }

  /// True if the kernel holds something of the peer's that no event has reported yet: bytes, an end or an error. Costs a
  /// system call.
  public func hasArrived() -> Bool {
    guard descriptor >= 0, !isAborted, !readiness.contains(.broken) else { return true }
    if let layer { return layer.hasInput(self) }
    var byte: UInt8 = 0
    return unsafe cl_peek(descriptor, &byte, 1) != -Int64(IOError.wouldBlock.code)
  }

  /// Bytes that were sent and that the peer has not acknowledged yet. Costs a system call.
  public var unacknowledged: Int {
    guard descriptor >= 0 else { return 0 }
    return Int(max(0, cl_unacknowledged(descriptor)))
  }

  /// Bytes on the wire that the peer has acknowledged; those of a stream as soon as its connection took them.
  ///
  /// The kernel is asked, so it costs a system call.
  public var acknowledged: Int {
    (layer?.written ?? written) - unacknowledged
  }
}
