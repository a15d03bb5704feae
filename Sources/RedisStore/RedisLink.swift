internal import RESP
internal import Reactor

/// An established connection to a server, which sends commands and receives replies. Only one worker uses it.
final class RedisLink {
  /// The value of `consumed` at which the consumed bytes are removed from `output`. If `output` is shorter than this
  /// when all bytes are consumed, its memory is kept for the next commands.
  private static let maximumConsumed = 1 << 16

  private static let outOfMemory = RedisFailure.unreachable("the gateway has no memory for a buffer")

  private let socket: Socket
  private let poller: Poller
  private let waiter: Waiter
  private let reader = RESPReader()
  /// The bytes of the appended commands.
  private var output: [UInt8] = []
  /// The number of bytes at the start of `output` that `flush` has copied to `sending`.
  private var consumed = 0
  /// The bytes that the socket accepts next.
  private let sending = Buffer()
  private let receiving = Buffer()

  init(_ socket: Socket, _ poller: Poller, _ waiter: Waiter) {
    self.socket = socket
    self.poller = poller
    self.waiter = waiter
  }

  /// Closes with a reset, so that commands in the kernel's queue are not sent later.
  func close() {
    socket.reset()
    poller.buffers.wipeAndGiveBack(sending)
    poller.buffers.wipeAndGiveBack(receiving)
  }

  /// Appends a command to the bytes that `flush` sends.
  func append(_ words: [[UInt8]]) {
    RESPCommand.append(words, to: &output)
  }

  /// Sends the appended commands, as far as the socket accepts them.
  func flush() throws(RedisFailure) {
    while consumed < output.count || !sending.isEmpty {
      if sending.isEmpty {
        // A TLS record that was sent in part must be repeated with the same bytes, so nothing is appended to it.
        guard poller.buffers.ensureBlock(in: sending) else { throw RedisLink.outOfMemory }
        let count = min(sending.room, output.count - consumed)
        sending.append(output, in: consumed..<consumed + count)
        consumed += count
      }
      switch socket.send(sending, upTo: sending.count) {
      case .moved: continue
      case .wouldBlock:
        // Limits the memory if commands are always appended before the socket has accepted the earlier ones, so that
        // `flush` always returns here.
        if consumed >= RedisLink.maximumConsumed {
          output.removeFirst(consumed)
          consumed = 0
        }
        return
      case .ended: throw .unreachable("the connection ended")
      case .failed(let error): throw .unreachable("\(error)")
      }
    }
    output.removeAll(keepingCapacity: output.count < RedisLink.maximumConsumed)
    consumed = 0
    poller.buffers.wipeAndGiveBack(sending)
  }

  /// Receives the available bytes and passes each complete reply to `take`.
  func receive(_ take: (RESPReply) throws(RedisFailure) -> Void) throws(RedisFailure) {
    defer { poller.buffers.wipeAndGiveBack(receiving) }
    while socket.satisfies(.readable) {
      guard poller.buffers.ensureBlock(in: receiving) else { throw RedisLink.outOfMemory }
      switch socket.receive(into: receiving) {
      case .moved:
        do throws(RESPError) {
          try receiving.withSpan { bytes throws(RESPError) in try reader.feed(bytes) }
        } catch {
          throw .unexpectedReply(error.description)
        }
        receiving.clear()
        while let reply = try next() { try take(reply) }
      case .wouldBlock: return
      case .ended: throw .unreachable("the server closed the connection")
      case .failed(let error): throw .unreachable("\(error)")
      }
    }
  }

  private func next() throws(RedisFailure) -> RESPReply? {
    do throws(RESPError) {
      return try reader.next()
    } catch {
      throw .unexpectedReply(error.description)
    }
  }

  /// Waits until bytes can be received, or sent if some are left. Returns false if the deadline passes first.
  func wait(until deadline: Deadline) async -> Bool {
    let wanted: Readiness = sending.isEmpty ? .readable : [.readable, .writable]
    return await waiter.wait(socket, wanted, until: deadline) != .timedOut
  }

  /// Sends commands and returns their replies. Only for a connection that is not in general use yet.
  func exchange(_ commands: [[[UInt8]]], until deadline: Deadline) async throws(RedisFailure) -> [RESPReply] {
    for command in commands { append(command) }
    var replies: [RESPReply] = []
    while true {
      try flush()
      try receive { replies.append($0) }
      if replies.count >= commands.count { return replies }
      guard poller.now < deadline else { throw .noReply }
      _ = await wait(until: deadline)
    }
  }
}
