import CLinux

extension Socket {
  /// Copies received bytes into the empty buffer and leaves them in the kernel's queue. Used for the header of the
  /// PROXY protocol, which precedes the bytes of TLS or HTTP.
  ///
  /// `.moved` contains the number of copied bytes: those in the queue, as far as they fit into the buffer. The socket
  /// is then no longer marked readable, so a wait ends only when more bytes arrive. The caller must consume the bytes
  /// with `receive(into:upTo:)`, which marks the socket readable again.
  public func peek(into buffer: Buffer) -> Transfer {
    guard descriptor >= 0 else { return .failed(.aborted) }
    let received = unsafe buffer.fill { bytes, count in unsafe cl_peek(descriptor, bytes, count) }
    if received > 0 {
      readiness.remove(.readable)
      return .moved(Int(received))
    }
    if received == 0 { return .ended }
    let error = IOError(code: Int32(clamping: -received))
    readiness.remove(.readable)
    return error == .wouldBlock ? .wouldBlock : .failed(error)
  }

  /// Receives at most `limit` bytes, which an earlier `peek` has copied, and removes them from the kernel's queue.
  public func receive(into buffer: Buffer, upTo limit: Int) -> Transfer {
    guard descriptor >= 0 else { return .failed(.aborted) }
    let received = unsafe buffer.fill { bytes, count in unsafe cl_receive(descriptor, bytes, min(count, limit)) }
    // More bytes may already be queued, and no event will report them.
    readiness.insert(.readable)
    guard received > 0 else { return received == 0 ? .ended : .failed(IOError(code: Int32(clamping: -received))) }
    return .moved(Int(received))
  }

  /// True if bytes, an end or an error have arrived, even if no event has reported them yet. Also true for a closed,
  /// aborted or broken socket. Costs a system call.
  public func inputHasArrived() -> Bool {
    guard descriptor >= 0, !isAborted, !readiness.contains(.broken) else { return true }
    if let layer { return layer.hasInput(self) }
    var byte: UInt8 = 0
    return unsafe cl_peek(descriptor, &byte, 1) != -Int64(IOError.wouldBlock.code)
  }

  /// The number of sent bytes that the peer has not acknowledged yet. Costs a system call.
  public var unacknowledged: Int {
    guard descriptor >= 0 else { return 0 }
    return Int(max(0, cl_unacknowledged(descriptor)))
  }

  /// The number of sent bytes, including the overhead of a layer, that the peer has acknowledged. A byte of a stream
  /// counts as acknowledged as soon as the connection of the stream accepts it.
  ///
  /// Costs a system call.
  public var acknowledged: Int {
    (layer?.written ?? written) - unacknowledged
  }

  /// The number of bytes by which `acknowledged` may lag behind the bytes that the peer has received; 0 except for a
  /// Unix socket. There the kernel counts a packet, of up to 36,608 bytes, as unread until its last byte is read, and
  /// counts the overhead of all packets too.
  ///
  /// Costs a system call.
  public var acknowledgementUnit: Int {
    descriptor >= 0 && cl_is_unix_socket(descriptor) ? 48 * 1024 : 0
  }

  /// The address of the peer; `nil` for a closed socket. Costs a system call.
  public var peerAddress: Address? {
    var found = cl_address()
    return unsafe cl_peer_address(descriptor, &found) == 0 ? Address(found) : nil
  }
}
