import HTTP
import HTTP1
import Reactor
import Time

/// A connection to the upstream, in use by one exchange or idle in the pool.
final class UpstreamConnection: SocketObserver, TimerOwner {
  let socket: Socket
  private let pool: UpstreamPool
  // Cached to avoid a retain and release per use.
  private let poller: Poller
  private let buffers: BufferPool
  /// The address to which the connection leads.
  let target: UpstreamTarget
  /// The number of requests that the connection may still begin, including the current one.
  private var remainingRequests: Int
  /// The time after which the connection begins no request.
  private let endOfUse: MonotonicTime
  /// The version of the upstream's TLS settings with which the connection was opened.
  let epoch: Int
  /// Received bytes that are not yet consumed; without a block while empty.
  let input = Buffer()
  /// True if the connection was used by an earlier exchange.
  private(set) var isReused = false
  /// The client address (`ConnectionLimits.key`) of the passing request that uses the connection, or to which a response
  /// is relayed; `nil` while idle, and for a request that is not limited by its address.
  var holder: UInt64?
  private let timer = Timer()
  private var isIdle = false
  /// The address of the server, for the access log.
  var name: String { target.address.name }
  /// The time at which the last exchange ended.
  private(set) var idleSince: MonotonicTime = 0

  init(_ socket: Socket, _ pool: UpstreamPool, _ target: UpstreamTarget, epoch: Int) {
    self.socket = socket
    self.pool = pool
    poller = pool.poller
    buffers = pool.poller.buffers
    self.target = target
    self.epoch = epoch
    let configuration = pool.settings.configuration
    remainingRequests = configuration.requestsPerUpstreamConnection
    endOfUse = poller.now + configuration.upstreamConnectionAge
    target.open += 1
    target.counters.countOpened()
    target.counters.countRequest()
  }

  /// True if the connection may serve another request: it has not reached its maximum age and number of requests, and
  /// the server still has its address.
  func mayServeMore(now: MonotonicTime) -> Bool { remainingRequests > 1 && now < endOfUse && !target.isGone }

  /// Prepares the connection for the pool. While it is idle, input means that the upstream has closed the connection or
  /// sent unexpected bytes.
  func park(now: MonotonicTime, timeout: Milliseconds) {
    idleSince = now
    isIdle = true
    holder = nil
    // Observer and timer stay set while the connection is in use: clearing and setting them again would cost reference
    // counting per request.
    if socket.observer == nil { socket.observer = self }
    poller.arm(timer, for: self, after: timeout)
  }

  /// Prepares the connection for use. The timer stays armed: its deadline is moved when the connection parks again.
  func unpark() {
    isIdle = false
    isReused = true
    remainingRequests -= 1
    target.counters.countRequest()
  }

  /// Receives into `input`. Fails with `IOError.noMemory` if there is no memory for it.
  func receive() -> Transfer {
    guard buffers.ensureBlock(in: input) else { return .failed(.noMemory) }
    // Bytes in front of the present ones may have been consumed: those of an interim response, or an earlier part of
    // the body.
    if input.receiveRoom == 0 { input.compact() }
    return socket.receive(into: input)
  }

  func releaseInput() {
    buffers.giveBack(input)
  }

  func socketIsReady(_ socket: Socket) {
    if isIdle, socket.hasInput() { pool.discard(self) }
  }

  func workerIsDraining() {}

  func timerExpired() {
    if isIdle { pool.discard(self) }
  }

  func close() {
    poller.disarm(timer)
    buffers.wipeAndGiveBack(input)
    socket.close()
  }
}

/// Finds and parses the head of an upstream response. Skips interim responses (1xx), except early hints on request.
struct ResponseHeadReader {
  /// The maximum number of interim responses, more than any server sends. Without a limit an upstream could keep an
  /// exchange waiting forever.
  private static let interimLimit = 16

  private var scanner = HeadScanner()
  private var interimCount = 0
  /// The number of bytes of the early hints that were forwarded.
  var hintBytes = 0
  /// True if an interim response was read.
  var hasReadInterim: Bool { interimCount > 0 }

  /// Returns the final head if all its bytes have arrived. They stay at the front of the input, and `fields` contains
  /// the positions of the header fields. Returns `nil` if more bytes must be received.
  ///
  /// Throws `malformed` if a head is invalid or exceeds `limits`, or after too many interim responses.
  ///
  /// - Parameters:
  ///   - acceptsSwitch: true if the request asks for another protocol, so that 101 is a final response.
  ///   - returnsHints: true to return the head of a 103 response as well. The caller removes it from the input.
  mutating func parse(
    _ input: Buffer, to method: Method, acceptsSwitch: Bool = false, returnsHints: Bool = false, limits: HeadLimits,
    into fields: HeadIndex
  ) throws(UpstreamFailure) -> ResponseHead? {
    while !input.isEmpty {
      let head: ResponseHead?
      do throws(MessageError) {
        head = try input.withSpan { (bytes: Span<UInt8>) throws(MessageError) -> ResponseHead? in
          guard let length = try scanner.end(of: bytes) else { return nil }
          return try ResponseHeadParser.parse(
            bytes, length: length, to: method, fieldLimit: limits.fields, into: fields)
        }
      } catch {
        throw .malformed(error.description)
      }
      let isTooLong = if let head { head.length > limits.bytes } else { input.count >= limits.bytes }
      if isTooLong { throw .malformed("a head longer than \(limits.bytes) bytes") }
      guard let head else { return nil }
      if head.status >= 200 || head.status == 101 && acceptsSwitch { return head }
      interimCount += 1
      guard head.status != 101 else { throw .malformed("a protocol switch that was not requested") }
      guard interimCount <= ResponseHeadReader.interimLimit else {
        throw .malformed("more than \(ResponseHeadReader.interimLimit) interim responses")
      }
      scanner = HeadScanner()
      if head.status == 103, returnsHints { return head }
      input.consume(head.length)
    }
    return nil
  }
}
