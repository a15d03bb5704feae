internal import COpenSSL
public import Reactor

/// TLS on one socket, over OpenSSL.
///
/// Theory of operation. OpenSSL reads ahead and may hold back whole records, so a short read of its own says nothing: a
/// direction stays ready until OpenSSL wants more of the socket, or until it holds nothing and the socket itself was
/// drained, which `TLSTransport` sees. What OpenSSL wants may be of the other direction (a key update can make a read wait
/// to write): then an event of that direction makes this one ready again.
///
/// Records that carry no application data are counted, and a peer that sends nothing else is cut off; a direction with
/// more records than a turn's share is ready again in the next turn of the loop.
///
/// Confined to its worker, like its socket.
@safe public final class TLSLayer: RecordLayer {
  private let connection: OpaquePointer
  /// Referred to by the connection's callbacks.
  private let owner: AnyObject
  /// The socket's, which closes it.
  let descriptor: Int32
  var reads = SocketReads()
  private(set) var budget = RecordBudget()
  /// Called once when the peer has sent too many records without application data.
  public var floodHandler: (() -> Void)?
  /// True if more follows what OpenSSL sends now.
  private(set) var sendsMore = false
  public internal(set) var written = 0
  private var readWantsWrite = false
  private var writeWantsRead = false
  private var isEstablished = false
  /// After a fatal error nothing may be said any more.
  private var isBroken = false
  private var hasAnnouncedEnd = false
  /// A write that must be repeated with the same bytes: how many there were, and a mark of how they begin.
  private var pending = (count: 0, mark: UInt64(0))

  /// The side that waits for a client.
  init(_ server: TLSServer, _ socket: Socket) throws(TLSFailure) {
    owner = server
    descriptor = socket.descriptor
    unsafe connection = try TLSLayer.connection(of: server.context)
    try attach()
    // Unretained: `owner` holds it longer than the connection lives.
    unsafe co_set_owner(connection, Unmanaged.passUnretained(server).toOpaque())
    unsafe SSL_set_accept_state(connection)
  }

  /// The side that begins.
  init(_ client: TLSClient, _ socket: Socket) throws(TLSFailure) {
    owner = client
    descriptor = socket.descriptor
    unsafe connection = try TLSLayer.connection(of: client.context)
    try attach()
    // Unretained: `owner` holds it longer than the connection lives.
    unsafe co_set_owner(connection, Unmanaged.passUnretained(client).toOpaque())
    if let session = client.latestSession { _ = unsafe SSL_set_session(connection, session.pointer) }
    if let name = client.serverName { _ = unsafe co_set_host_name(connection, name) }
    unsafe SSL_set_connect_state(connection)
  }

  private static func connection(of context: TLSContext) throws(TLSFailure) -> OpaquePointer {
    guard let connection = unsafe SSL_new(context.pointer) else { throw .refused(TLSLibrary.lastReason()) }
    return unsafe connection
  }

  private func attach() throws(TLSFailure) {
    guard unsafe TLSTransport.attach(connection, to: self) else { throw .refused(TLSLibrary.lastReason()) }
    // Unretained: the layer frees the connection when it goes.
    unsafe co_set_message_argument(connection, Unmanaged.passUnretained(self).toOpaque())
    unsafe SSL_set_msg_callback(connection) { isWritten, _, kind, bytes, count, _, layer in
      guard isWritten == 0, count > 0, let bytes = unsafe bytes, let layer = unsafe layer else { return }
      // Only called while a function of the layer runs.
      unsafe Unmanaged<TLSLayer>.fromOpaque(layer)._withUnsafeGuaranteedRef {
        $0.count(kind, unsafe bytes.load(as: UInt8.self))
      }
    }
  }

  deinit {
    // The only reference.
    unsafe SSL_free(connection)
  }

  // MARK: Handshake

  enum Step {
    case done
    case wants(Readiness)
  }

  /// Goes on with the handshake as far as it gets.
  func handshake(_ socket: Socket) throws(TLSFailure) -> Step {
    TLSLibrary.forgetErrors()
    let result = unsafe SSL_do_handshake(connection)
    if result == 1 {
      isEstablished = true
      return .done
    }
    switch unsafe SSL_get_error(connection, result) {
    case SSL_ERROR_WANT_READ:
      socket.readiness.subtract([.readable, .readClosed])
      return .wants(.readable)
    case SSL_ERROR_WANT_WRITE:
      socket.readiness.remove(.writable)
      return .wants(.writable)
    default:
      isBroken = true
      throw failure()
    }
  }

  private func failure() -> TLSFailure {
    let verification = unsafe SSL_get_verify_result(connection)
    let code = ERR_peek_last_error()
    let reason = ERR_GET_REASON(code)
    defer { ERR_clear_error() }
    if code == 0 || reason == SSL_R_UNEXPECTED_EOF_WHILE_READING { return .closed }
    if reason == SSL_R_HTTP_REQUEST { return .plainHTTP }
    if reason == SSL_R_CERTIFICATE_VERIFY_FAILED, let text = unsafe X509_verify_cert_error_string(verification) {
      return unsafe .untrusted(String(cString: text))
    }
    return .refused(TLSLibrary.lastReason())
  }

  /// True if the session was resumed: no certificate was sent and no key used.
  public var isResumed: Bool { unsafe SSL_session_reused(connection) == 1 }

  /// `TLSv1.2` or `TLSv1.3`.
  public var version: String { unsafe String(cString: SSL_get_version(connection)) }

  public var applicationProtocol: String? {
    var start: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    unsafe SSL_get0_alpn_selected(connection, &start, &count)
    guard let start = unsafe start, count > 0 else { return nil }
    // Valid as long as the connection is.
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }

  // MARK: Bytes

  /// Counts a record that came: `first` is the type in its head, or the type inside of an encrypted one of TLS 1.3.
  private func count(_ kind: Int32, _ first: UInt8) {
    guard isEstablished else { return }
    switch kind {
    case SSL3_RT_HEADER: budget.countRecord()
    case SSL3_RT_INNER_CONTENT_TYPE: break
    default: return
    }
    guard Int32(first) != SSL3_RT_APPLICATION_DATA else { return }
    budget.countIdleRecord()
    // OpenSSL goes on with all that it has read ahead, unless the peer has ended.
    if budget.isOverdrawn { unsafe SSL_set_shutdown(connection, SSL_RECEIVED_SHUTDOWN) }
  }

  public func receive(into buffer: Buffer, _ socket: Socket) -> Transfer {
    guard !isBroken else { return .failed(TLSLayer.broken) }
    budget.begin(turn: socket.poller.turn)
    if budget.isSpent {
      socket.holdBackReading()
      return .wouldBlock
    }
    let received = unsafe buffer.fill { bytes, room in
      // `fill` names the free room of the buffer.
      Int64(read { unsafe SSL_read(connection, bytes, Int32(clamping: room)) })
    }
    guard received > 0 else { return stoppedReading(Int32(received), socket) }
    // As for a plaintext socket: a hang-up that was seen may have an end or an error behind the bytes.
    if reads.isDrained, unsafe SSL_has_pending(connection) == 0, socket.readiness.isDisjoint(with: .mayHideMore) {
      socket.readiness.remove(.readable)
    }
    return .moved(Int(received))
  }

  public func hasInput(_ socket: Socket) -> Bool {
    guard !isBroken else { return true }
    budget.begin(turn: socket.poller.turn)
    var byte: UInt8 = 0
    let result = read { unsafe SSL_peek(connection, &byte, 1) }
    return result > 0 || stoppedReading(result, socket) != .wouldBlock
  }

  /// Reads with `call`, past records without application data, as far as the budget allows.
  private func read(_ call: () -> Int32) -> Int32 {
    defer { reads.unlimit() }
    while true {
      TLSLibrary.forgetErrors()
      reads.limit()
      let result = call()
      if result > 0 {
        budget.receivedData()
        return result
      }
      let isStopped = reads.foundNothing || reads.isExhausted || budget.isOverdrawn || budget.isSpent
      guard !isStopped, unsafe SSL_get_error(connection, result) == SSL_ERROR_WANT_READ else { return result }
    }
  }

  private func stoppedReading(_ result: Int32, _ socket: Socket) -> Transfer {
    if budget.isOverdrawn {
      floodHandler?()
      return fail(socket)
    }
    switch unsafe SSL_get_error(connection, result) {
    case SSL_ERROR_WANT_READ where !reads.foundNothing:
      // There may be more, in the socket or in OpenSSL: no event of the kernel will say so.
      socket.holdBackReading()
      return .wouldBlock
    case SSL_ERROR_WANT_READ:
      socket.readiness.subtract([.readable, .readClosed])
      return .wouldBlock
    case SSL_ERROR_WANT_WRITE:
      readWantsWrite = true
      socket.readiness.subtract([.readable, .readClosed, .writable])
      return .wouldBlock
    case SSL_ERROR_ZERO_RETURN:
      return .ended
    default:
      // An end without `close_notify` among them (RFC 8446, section 6.1): whoever reads to the end must not take what
      // came for all there was.
      return fail(socket)
    }
  }

  public func send(_ buffer: Buffer, upTo count: Int, more: Bool, _ socket: Socket) -> Transfer {
    guard !isBroken, !hasAnnouncedEnd else { return .failed(TLSLayer.broken) }
    guard count > 0 else { return .wouldBlock }
    if pending.count > 0, count < pending.count || TLSLayer.mark(of: buffer, pending.count) != pending.mark {
      // Half of a record is on its way, and these are not its bytes.
      return fail(socket)
    }
    TLSLibrary.forgetErrors()
    sendsMore = more
    defer { sendsMore = false }
    let sent = unsafe buffer.withReadable { bytes in
      // The caller's count is within the buffer's, as for a plain send.
      unsafe SSL_write(connection, bytes, Int32(clamping: count))
    }
    if sent > 0 {
      pending.count = 0
      buffer.consume(Int(sent))
      return .moved(Int(sent))
    }
    switch unsafe SSL_get_error(connection, sent) {
    case SSL_ERROR_WANT_WRITE:
      socket.readiness.remove(.writable)
    case SSL_ERROR_WANT_READ:
      writeWantsRead = true
      socket.readiness.remove(.writable)
    default:
      return fail(socket)
    }
    pending = (count, TLSLayer.mark(of: buffer, count))
    return .wouldBlock
  }

  /// Tells one message's begin from another's: FNV-1a over as much as an interim response is long, and more.
  private static func mark(of buffer: Buffer, _ count: Int) -> UInt64 {
    buffer.withSpan { bytes in
      var mark: UInt64 = 0xcbf2_9ce4_8422_2325
      for index in 0..<min(64, count) { mark = (mark ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
      return mark
    }
  }

  private static let broken = IOError(code: 104)

  private func fail(_ socket: Socket) -> Transfer {
    isBroken = true
    ERR_clear_error()
    socket.readiness.insert(.broken)
    return .failed(TLSLayer.broken)
  }

  public func readiness(after bits: Readiness) -> Readiness {
    var ready: Readiness = []
    if writeWantsRead, !bits.isDisjoint(with: [.readable, .readClosed, .broken]) {
      writeWantsRead = false
      ready.insert(.writable)
    }
    if readWantsWrite, !bits.isDisjoint(with: [.writable, .broken]) {
      readWantsWrite = false
      ready.insert(.readable)
    }
    return ready
  }

  /// Sends a KeyUpdate (RFC 8446, section 4.6.3), as far as the socket takes it; false with TLS 1.2, which has none.
  package func updateKeys() -> Bool {
    TLSLibrary.forgetErrors()
    defer { ERR_clear_error() }
    return unsafe SSL_key_update(connection, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 && SSL_do_handshake(connection) == 1
  }

  // MARK: The end

  public func announceEnd() {
    guard isEstablished, !isBroken, !hasAnnouncedEnd, pending.count == 0 else { return }
    hasAnnouncedEnd = true
    ERR_clear_error()
    // Sends `close_notify` if the socket takes it; the peer's own is not waited for.
    _ = unsafe SSL_shutdown(connection)
    ERR_clear_error()
  }

  public func abandon() {
    isBroken = true
  }
}
