import CLinux

/// A non-blocking TCP socket, registered once and edge-triggered for all events; or a socket without a descriptor,
/// which represents a stream of a multiplexed connection, e.g. of HTTP/2 (`StreamTransport`).
///
/// Not Sendable, so it cannot leave its worker. The code that opened it closes it; a second close is harmless.
@safe public final class Socket {
  /// The file descriptor; -1 once closed, and for a stream.
  public private(set) var descriptor: Int32
  /// Distinguishes this socket from earlier ones with the same descriptor.
  let generation: UInt32
  /// The operations that are possible now.
  ///
  /// The one-byte properties are placed together to save memory, because there may be very many sockets.
  public package(set) var readiness: Readiness = []
  /// The operations for which the task of `waiter` waits.
  var interest: Readiness = []
  /// True after `abort`: every further receive and send fails.
  package private(set) var isAborted = false
  /// True while a socket without a descriptor is open.
  var isStreamOpen = false
  /// True if a receive or send has failed. The kernel reports an error once and an ordinary end afterwards; without
  /// this flag a truncated message would look complete.
  var hasFailed = false
  /// The total number of bytes sent without a layer.
  var written = 0
  package let poller: Poller
  /// The TLS layer, once its handshake is done; `nil` for plaintext.
  public private(set) var layer: (any RecordLayer)?
  /// The waiter of the task that waits for `interest`, if any. Unretained: the task holds its waiter during the wait
  /// and removes it from here afterwards.
  var waiter: Unmanaged<Waiter>?
  /// The object that receives the events while no task waits: a parked connection or an idle upstream connection. The
  /// reference is strong, because no other reference keeps a parked connection alive.
  public var observer: (any SocketObserver)?
  private let counter: ConnectionCounter?
  /// The transport of a socket without a descriptor, also while the socket is closed; `nil` for a TCP socket.
  private let retainedStream: StreamTransport?
  /// The same as `retainedStream`. A call through this reference needs no retain and release.
  let stream: Unmanaged<StreamTransport>?

  init(descriptor: Int32, generation: UInt32, poller: Poller, counter: ConnectionCounter?) {
    self.descriptor = descriptor
    self.generation = generation
    self.poller = poller
    self.counter = counter
    retainedStream = nil
    unsafe stream = nil
    unsafe waiter = nil
    counter?.add()
    Descriptors.socketOpened()
  }

  /// Creates a closed socket without a descriptor, so that the same code serves TCP connections and streams of a
  /// multiplexed connection. `stream` carries one stream after the other, and `openStream` opens the socket for each.
  public init(_ poller: Poller, _ stream: StreamTransport) {
    descriptor = -1
    generation = 0
    self.poller = poller
    retainedStream = stream
    unsafe self.stream = Unmanaged.passUnretained(stream)
    counter = nil
    unsafe waiter = nil
  }

  /// Opens a closed socket without a descriptor for the next stream. Readiness and errors of the previous stream are
  /// reset.
  public func openStream() {
    precondition(unsafe stream != nil && !isStreamOpen, "a stream for a socket that has one")
    isStreamOpen = true
    readiness = []
    interest = []
    isAborted = false
    hasFailed = false
  }

  deinit {
    if descriptor >= 0 {
      // The poller retains a registered socket until it is closed, so this only prevents the leak of a descriptor after
      // a mistake.
      cl_close(descriptor)
      Descriptors.socketClosed()
      counter?.remove()
    }
  }

  /// True until the socket is closed.
  public var isOpen: Bool { descriptor >= 0 || isStreamOpen }

  /// True if a wait for `wanted` would return immediately: always for a broken socket, unless `wanted` is empty.
  ///
  /// A wait for two sockets passes an empty `wanted` for a socket whose events the caller cannot handle yet. If that
  /// socket is broken, the wait must still suspend the caller, or the caller would loop.
  public func satisfies(_ wanted: Readiness) -> Bool {
    if readiness.contains(.broken) { return !wanted.isEmpty }
    if wanted.contains(.readable), readiness.contains(.readClosed) { return true }
    return !readiness.isDisjoint(with: wanted)
  }

  /// Reports an event of the stream that this socket represents.
  public func signal(_ bits: Readiness) {
    _ = deliver(bits)
  }

  /// Adds `bits` to the readiness. Returns true if no task waits, so that the observer must handle the event.
  func deliver(_ bits: Readiness) -> Bool {
    readiness.formUnion(bits)
    if let layer { readiness.formUnion(layer.readiness(after: bits)) }
    if bits.contains(.readClosed) { readiness.insert(.readable) }
    guard let waiter = unsafe waiter else { return true }
    if satisfies(interest) { unsafe waiter._withUnsafeGuaranteedRef { $0.resume(.ready) } }
    return false
  }

  /// Receives the bytes that fit into the buffer.
  ///
  /// A short read means that the kernel's queue is empty, so no second call is needed to get EAGAIN. There are two
  /// exceptions: after a hang-up, an end or error may follow the bytes, and urgent data ends a read early.
  ///
  /// For a broken socket the result is a failure instead of `wouldBlock`: a wait for a broken socket returns at once,
  /// so the caller would loop.
  public func receive(into buffer: Buffer) -> Transfer {
    if isAborted || descriptor < 0 { return receiveFromStream(buffer) }
    let room = buffer.receiveRoom
    precondition(room > 0, "receive into a full buffer")
    if let layer { return unlessBroken(layer.receive(into: buffer, self)) }
    let received = unsafe buffer.fill { bytes, count in unsafe cl_receive(descriptor, bytes, count) }
    if received > 0 {
      if received < room, readiness.isDisjoint(with: .mayHideMore) { readiness.remove(.readable) }
      return .moved(Int(received))
    }
    if received == 0 { return hasFailed ? .failed(.reset) : .ended }
    let error = IOError(code: Int32(clamping: -received))
    if error == .wouldBlock {
      readiness.subtract([.readable, .readClosed])
      return unlessBroken(.wouldBlock)
    }
    return markBroken(by: error)
  }

  /// Sends the readable bytes of the buffer and consumes those that the kernel accepted.
  public func send(_ buffer: Buffer) -> Transfer {
    send(buffer, upTo: buffer.count)
  }

  /// Sends at most `count` bytes of the buffer and consumes those that the kernel accepted.
  public func send(_ buffer: Buffer, upTo count: Int) -> Transfer {
    // The kernel reads `count` bytes from memory, even if the buffer holds fewer.
    precondition(count >= 0 && count <= buffer.count, "a send of more than the buffer holds")
    if isAborted || descriptor < 0 { return sendToStream(buffer, count) }
    if let layer { return unlessBroken(layer.send(buffer, upTo: count, self)) }
    let sent = unsafe buffer.withReadable { bytes in unsafe cl_send(descriptor, bytes, count) }
    guard sent >= 0 else { return handleSendError(sent) }
    written += Int(sent)
    if sent < count { readiness.remove(.writable) }
    buffer.consume(Int(sent))
    return sent == 0 ? .wouldBlock : .moved(Int(sent))
  }

  /// Sends the bytes of `head` and then at most `count` bytes of `body`, and consumes the bytes sent. Without a layer,
  /// a TCP socket sends both in one system call.
  public func send(_ head: Buffer, then body: Buffer, upTo count: Int) -> Transfer {
    precondition(count >= 0 && count <= body.count, "a send of more than the buffer holds")
    if isAborted || descriptor < 0 { return sendToStream(head, then: body, count) }
    if layer != nil { return sendJoined(head, then: body, upTo: count) }
    let headCount = head.count
    let sent = unsafe head.withReadable { first in
      unsafe body.withReadable { second in unsafe cl_send2(descriptor, first, headCount, second, count) }
    }
    guard sent >= 0 else { return handleSendError(sent) }
    written += Int(sent)
    if sent < headCount + count { readiness.remove(.writable) }
    head.consume(min(Int(sent), headCount))
    if Int(sent) > headCount { body.consume(Int(sent) - headCount) }
    return sent == 0 ? .wouldBlock : .moved(Int(sent))
  }

  /// Copies the head, and as much of the body as fits, into one buffer and sends that: a TLS record is built from
  /// contiguous memory, and copying costs less than a separate record for a short head.
  private func sendJoined(_ head: Buffer, then body: Buffer, upTo count: Int) -> Transfer {
    let headCount = head.count
    guard let joined = poller.buffers.take() else {
      // The caller sends the rest afterwards.
      return headCount > 0 ? send(head, upTo: headCount) : send(body, upTo: count)
    }
    defer { poller.buffers.wipeAndGiveBack(joined) }
    joined.append(from: head, offset: 0, count: headCount)
    joined.append(from: body, offset: 0, count: min(count, joined.room))
    let result = send(joined, upTo: joined.count)
    if case .moved(let sent) = result {
      head.consume(min(sent, headCount))
      if sent > headCount { body.consume(sent - headCount) }
    }
    return result
  }

  private func handleSendError(_ result: Int64) -> Transfer {
    let error = IOError(code: Int32(clamping: -result))
    if error == .wouldBlock {
      readiness.remove(.writable)
      return unlessBroken(.wouldBlock)
    }
    return markBroken(by: error)
  }

  /// Marks the socket as broken and returns the failure.
  func markBroken(by error: IOError) -> Transfer {
    readiness.insert(.broken)
    hasFailed = true
    return .failed(error)
  }

  /// Returns `result`, or a failure instead of `wouldBlock` if the socket is broken: a wait for a broken socket would
  /// not suspend the caller.
  func unlessBroken(_ result: Transfer) -> Transfer {
    guard case .wouldBlock = result, readiness.contains(.broken) else { return result }
    return markBroken(by: .reset)
  }

  /// Ends the sending side. A TCP socket still receives. A stream discards the bytes that still arrive.
  public func shutdownWrite() {
    layer?.announceEnd()
    if descriptor >= 0 { _ = cl_shutdown_write(descriptor) } else { shutdownStreamWrite() }
  }

  /// Closes with a reset, so that the peer does not accept a truncated message as complete.
  public func reset() {
    layer?.abandon()
    if descriptor >= 0 { _ = cl_set_reset_on_close(descriptor) } else { closeStream(isReset: true) }
    close()
  }

  /// Closes the socket. Harmless if it is closed already.
  public func close() {
    guard descriptor >= 0 else { return closeStream(isReset: false) }
    poller.unregister(self)
    observer = nil
    layer?.announceEnd()
    layer = nil
    cl_close(descriptor)
    descriptor = -1
    Descriptors.socketClosed()
    counter?.remove()
  }

  /// Routes all further bytes through `layer`.
  package func adopt(_ layer: any RecordLayer) {
    self.layer = layer
    // The layer may hold input that arrived together with the end of the handshake, and no event would report it. So
    // mark both operations as possible; the layer removes those that are not.
    readiness.formUnion([.readable, .writable])
  }

  /// Clears readability until the next turn of the loop, so that other tasks run first. Used by a layer that has
  /// processed its share of input and may have more.
  package func holdBackReading() {
    // Hide `broken` as well: otherwise a wait would return at once, in the same turn.
    let held = readiness.intersection([.readable, .readClosed, .broken]).union(.readable)
    readiness.subtract(held)
    poller.deliverInNextTurn(held, to: self)
  }

  /// True if the peer has sent data for the user of this socket or has ended its sending side, or if the socket is
  /// broken.
  ///
  /// With TLS, a socket can also be readable because of messages of TLS itself.
  public func hasInput() -> Bool {
    guard let layer, !isAborted, !readiness.contains(.broken) else { return satisfies(.readable) }
    return satisfies(.readable) && layer.hasInput(self)
  }

  /// Returns the error of a connect that was in progress; `nil` if it succeeded.
  public func connectError() -> IOError? {
    let code = cl_socket_error(descriptor)
    return code < 0 ? IOError(code: -code) : nil
  }

  /// Wakes the waiting task or the observer, and makes every further receive and send fail, because the worker is about
  /// to stop, or has no memory for the connection.
  public func abort() {
    isAborted = true
    if deliver([.readable, .writable, .readClosed, .broken]) { observer?.socketIsReady(self) }
  }
}
