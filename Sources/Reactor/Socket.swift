import CLinux

/// The operations that are known to be possible on a socket without blocking.
public struct Readiness: OptionSet, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let readable = Readiness(rawValue: UInt8(CL_READABLE))
  public static let writable = Readiness(rawValue: UInt8(CL_WRITABLE))
  /// The peer has shut down its sending side: read until 0.
  public static let readClosed = Readiness(rawValue: UInt8(CL_READ_CLOSED))
  /// Both directions are gone, or an error is pending.
  public static let broken = Readiness(rawValue: UInt8(CL_BROKEN))
  /// The peer has sent urgent data: a read stops in front of it, though bytes follow.
  public static let urgent = Readiness(rawValue: UInt8(CL_URGENT))
  /// With one of these a short read does not mean that the kernel's queue is drained.
  public static let mayHideMore: Readiness = [.readClosed, .broken, .urgent]
}

/// The result of a receive or send.
public enum Transfer: Equatable, Sendable {
  /// So many bytes moved; never 0.
  case moved(Int)
  case wouldBlock
  /// The peer sends no more (receive only).
  case ended
  case failed(IOError)
}

/// A non-blocking stream socket, registered once and edge-triggered for everything.
///
/// Confined to its worker: not Sendable. Whoever opened it closes it; closing twice is harmless.
@safe public final class Socket {
  public private(set) var descriptor: Int32
  let generation: UInt32
  // Properties of one byte are next to each other: there may be very many sockets.
  public package(set) var readiness: Readiness = []
  var interest: Readiness = []
  /// Set when the worker stops before the connection was done: every further call fails.
  package private(set) var isAborted = false
  /// A receive or send has failed. The error was taken from the kernel by then, which reports an ordinary end from there
  /// on, so that a message that was cut off would pass for a whole one.
  private var hasFailed = false
  /// True if the last bytes were sent with more to follow.
  private var holdsBack = false
  /// Bytes that were sent in all, those of a layer aside.
  private(set) var written = 0
  /// The bytes that a layer takes at once: a TLS record.
  private static let recordSize = 16 * 1024
  package let poller: Poller
  /// TLS, once its handshake is done; `nil` for plaintext.
  public private(set) var layer: (any RecordLayer)?
  /// The task that waits for it, if one does, for what `interest` says. Not counted: the task holds its waiter while it
  /// waits, and takes it away from here when the wait is over.
  var waiter: Unmanaged<Waiter>?
  /// Told of events while no task waits: a parked connection, an idle upstream connection.
  /// Held strongly: for a parked connection this is the only reference.
  public var observer: (any SocketObserver)?
  private let counter: ConnectionCounter?
  /// Carries the bytes when there is no descriptor.
  private var stream: (any StreamTransport)?

  init(descriptor: Int32, generation: UInt32, poller: Poller, counter: ConnectionCounter?) {
    self.descriptor = descriptor
    self.generation = generation
    self.poller = poller
    self.counter = counter
    unsafe waiter = nil
    counter?.add()
    Descriptors.opened()
  }

  /// A socket for a stream of a connection that carries several: the same code serves both. It is closed.
  public init(_ poller: Poller) {
    descriptor = -1
    generation = 0
    self.poller = poller
    counter = nil
    unsafe waiter = nil
  }

  /// Opens a closed socket that has no descriptor for another stream: it knows nothing of the one before.
  public func open(_ stream: any StreamTransport) {
    precondition(!isOpen, "a stream for a socket that has one")
    self.stream = stream
    readiness = []
    interest = []
    isAborted = false
    hasFailed = false
  }

  deinit {
    if descriptor >= 0 {
      // A leak of the owner's: close all the same, the table's entry is stale by generation.
      cl_close(descriptor)
      Descriptors.closed()
      counter?.remove()
    }
  }

  public var isOpen: Bool { descriptor >= 0 || stream != nil }

  /// True if `wait` for `wanted` would return at once: always for a broken socket, unless nothing is wanted of it.
  ///
  /// The exception lets a wait leave out a broken socket for which it can do nothing yet; else it would never suspend.
  public func satisfies(_ wanted: Readiness) -> Bool {
    if readiness.contains(.broken) { return !wanted.isEmpty }
    if wanted.contains(.readable), readiness.contains(.readClosed) { return true }
    return !readiness.isDisjoint(with: wanted)
  }

  /// Reports an event of the stream that this socket represents.
  public func signal(_ bits: Readiness) {
    _ = deliver(bits)
  }

  /// Notes what has become possible. Returns whether it is for the observer to act upon: no task waits.
  func deliver(_ bits: Readiness) -> Bool {
    readiness.formUnion(bits)
    if let layer { readiness.formUnion(layer.readiness(after: bits)) }
    if bits.contains(.readClosed) { readiness.insert(.readable) }
    guard let waiter = unsafe waiter else { return true }
    if satisfies(interest) { unsafe waiter._withUnsafeGuaranteedRef { $0.resume(.ready) } }
    return false
  }

  /// Receives what fits into the buffer.
  ///
  /// A short read means that the kernel's queue is drained, so no second call is needed to see EAGAIN, but only while
  /// no hang-up was seen: then there may be a pending end or error behind the bytes. Urgent data ends a read early too.
  ///
  /// A broken socket never answers `wouldBlock`: a wait for it returns at once, so its caller would loop.
  public func receive(into buffer: Buffer) -> Transfer {
    if isAborted || descriptor < 0 { return receiveFromStream(buffer) }
    let room = buffer.readRoom
    precondition(room > 0, "receive into a full buffer")
    if let layer { return unlessBroken(layer.receive(into: buffer, self)) }
    let received = unsafe buffer.fill { bytes, count in unsafe cl_receive(descriptor, bytes, count) }
    if received > 0 {
      if received < room, readiness.isDisjoint(with: .mayHideMore) { readiness.remove(.readable) }
      return .moved(Int(received))
    }
    if received == 0 { return hasFailed ? .failed(.reset) : .ended }
    let error = IOError(code: Int32(-received))
    if error == .wouldBlock {
      readiness.subtract([.readable, .readClosed])
      return unlessBroken(.wouldBlock)
    }
    return broken(by: error)
  }

  /// Sends the buffer's bytes and consumes what the kernel took.
  public func send(_ buffer: Buffer) -> Transfer {
    send(buffer, upTo: buffer.count)
  }

  /// Sends at most `count` of the buffer's bytes and consumes what the kernel took.
  ///
  /// - Parameter more: Whether more follows at once. The kernel may hold the bytes back then, to send fewer and larger
  ///   packets, until something is sent without `more` or until `push`: 16 KiB at a time, a body costs a fifth more.
  public func send(_ buffer: Buffer, upTo count: Int, more: Bool = false) -> Transfer {
    // The kernel reads this many bytes, whatever the buffer holds.
    precondition(count >= 0 && count <= buffer.count, "a send of more than the buffer holds")
    if isAborted || descriptor < 0 { return sendToStream(buffer, count) }
    if let layer {
      let more = more || count > Socket.recordSize
      let result = unlessBroken(layer.send(buffer, upTo: count, more: more, self))
      if case .moved = result { holdsBack = more }
      return result
    }
    let sent = unsafe buffer.withReadable { bytes in unsafe cl_send(descriptor, bytes, count, more) }
    guard sent >= 0 else { return failed(sent) }
    holdsBack = more
    written += Int(sent)
    if sent < count { readiness.remove(.writable) }
    buffer.consume(Int(sent))
    return sent == 0 ? .wouldBlock : .moved(Int(sent))
  }

  /// Sends all of `head` and then at most `count` bytes of `body` in one system call, and consumes what was taken.
  public func send(_ head: Buffer, then body: Buffer, upTo count: Int, more: Bool = false) -> Transfer {
    precondition(count >= 0 && count <= body.count, "a send of more than the buffer holds")
    if isAborted || descriptor < 0 { return sendToStream(head, then: body, count) }
    if layer != nil { return sendJoined(head, then: body, upTo: count, more: more) }
    let headCount = head.count
    let sent = unsafe head.withReadable { first in
      unsafe body.withReadable { second in unsafe cl_send2(descriptor, first, headCount, second, count, more) }
    }
    guard sent >= 0 else { return failed(sent) }
    holdsBack = more
    written += Int(sent)
    if sent < headCount + count { readiness.remove(.writable) }
    head.consume(min(Int(sent), headCount))
    if Int(sent) > headCount { body.consume(Int(sent) - headCount) }
    return sent == 0 ? .wouldBlock : .moved(Int(sent))
  }

  /// A record is made of one piece of memory: a copy costs less than a record of its own for a short head.
  private func sendJoined(_ head: Buffer, then body: Buffer, upTo count: Int, more: Bool) -> Transfer {
    let headCount = head.count
    let joined = poller.buffers.take()
    defer { poller.buffers.wipeAndGiveBack(joined) }
    joined.append(from: head, offset: 0, count: headCount)
    joined.append(from: body, offset: 0, count: min(count, joined.room))
    let result = send(joined, upTo: joined.count, more: more)
    if case .moved(let sent) = result {
      head.consume(min(sent, headCount))
      if sent > headCount { body.consume(sent - headCount) }
    }
    return result
  }

  private func failed(_ result: Int64) -> Transfer {
    let error = IOError(code: Int32(-result))
    if error == .wouldBlock {
      readiness.remove(.writable)
      return unlessBroken(.wouldBlock)
    }
    return broken(by: error)
  }

  private func broken(by error: IOError) -> Transfer {
    readiness.insert(.broken)
    hasFailed = true
    return .failed(error)
  }

  /// The result, or a failure where it would have the caller wait for a broken socket.
  private func unlessBroken(_ result: Transfer) -> Transfer {
    guard case .wouldBlock = result, readiness.contains(.broken) else { return result }
    return broken(by: .reset)
  }

  /// Sends what the kernel holds back: what was to follow does not come yet.
  public func push() {
    guard holdsBack else { return }
    holdsBack = false
    if descriptor >= 0 { _ = cl_push(descriptor) }
  }

  /// Tells the peer that nothing more comes, and goes on receiving.
  public func shutdownWrite() {
    layer?.announceEnd()
    if descriptor >= 0 { _ = cl_shutdown_write(descriptor) } else { stream?.shutdownWrite() }
  }

  /// Ends with a reset: the peer must not take what it got for a whole message.
  public func reset() {
    layer?.abandon()
    if descriptor >= 0 { _ = cl_set_reset_on_close(descriptor) } else { closeStream(isReset: true) }
    close()
  }

  public func close() {
    guard descriptor >= 0 else { return closeStream(isReset: false) }
    poller.forget(self)
    observer = nil
    layer?.announceEnd()
    layer = nil
    cl_close(descriptor)
    descriptor = -1
    Descriptors.closed()
    counter?.remove()
  }

  /// From now on bytes go through `layer`.
  package func adopt(_ layer: any RecordLayer) {
    self.layer = layer
    // It may have taken in more than it used: only its own word counts.
    readiness.formUnion([.readable, .writable])
  }

  /// Takes the readability away until the next turn of the loop, so that the task that reads lets others run: a layer has
  /// read its share and may have more.
  package func holdBackReading() {
    // That it is broken too: a wait would return at once, in the same turn.
    let held = readiness.intersection([.readable, .readClosed, .broken]).union(.readable)
    readiness.subtract(held)
    poller.deliverInNextTurn(held, to: self)
  }

  /// True if the peer has sent something for this side's user, or has ended.
  ///
  /// Under TLS a socket can be readable for the layer's own messages alone.
  public func hasInput() -> Bool {
    guard let layer, !isAborted, !readiness.contains(.broken) else { return satisfies(.readable) }
    return satisfies(.readable) && layer.hasInput(self)
  }

  // MARK: Streams

  private func receiveFromStream(_ buffer: Buffer) -> Transfer {
    guard let stream, !isAborted else { return .failed(IOError(code: 103)) }
    switch stream.receive(into: buffer) {
    case .wouldBlock:
      readiness.subtract([.readable, .readClosed])
      return unlessBroken(.wouldBlock)
    case .ended: return hasFailed ? .failed(.reset) : .ended
    case .failed(let error): return broken(by: error)
    case .moved(let count): return .moved(count)
    }
  }

  private func sendToStream(_ buffer: Buffer, _ count: Int) -> Transfer {
    guard let stream, !isAborted else { return .failed(IOError(code: 103)) }
    let result = stream.send(buffer, upTo: count)
    if case .moved(let sent) = result { written += sent }
    if result != .moved(count) { readiness.remove(.writable) }
    if case .failed(let error) = result { return broken(by: error) }
    return unlessBroken(result)
  }

  private func sendToStream(_ head: Buffer, then body: Buffer, _ count: Int) -> Transfer {
    let headCount = head.count
    let first = sendToStream(head, headCount)
    guard count > 0, first == .moved(headCount) else { return first }
    switch sendToStream(body, count) {
    case .moved(let second): return .moved(headCount + second)
    case .wouldBlock, .ended, .failed: return first
    }
  }

  private func closeStream(isReset: Bool) {
    guard let stream else { return }
    self.stream = nil
    observer = nil
    stream.close(isReset: isReset)
  }

  /// The outcome of a connect that was in progress.
  func connectError() -> IOError? {
    let code = cl_socket_error(descriptor)
    return code < 0 ? IOError(code: -code) : nil
  }

  public var localAddress: Address? {
    var address = cl_address()
    guard unsafe cl_local_address(descriptor, &address) == 0 else { return nil }
    return Address(address)
  }

  /// Wakes the waiting task and fails every further call: the worker is about to stop.
  func abort() {
    isAborted = true
    if deliver([.readable, .writable, .readClosed, .broken]) { observer?.socketIsReady(self) }
  }
}

/// Gets the events of a socket for which no task waits.
public protocol SocketObserver: AnyObject {
  func socketIsReady(_ socket: Socket)
  /// The worker begins to drain: nothing new is to be begun on this socket.
  func workerIsDraining()
}
