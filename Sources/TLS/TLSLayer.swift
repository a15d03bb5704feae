internal import COpenSSL
public import Reactor

/// The TLS layer of one socket, based on OpenSSL.
///
/// Theory of operation. OpenSSL reads ahead and may buffer complete records. So if OpenSSL returns fewer bytes than the
/// caller has room for, there may still be more. The socket stays marked as readable until OpenSSL needs bytes that the
/// kernel does not have, or until neither OpenSSL nor the kernel has any bytes (`SocketReads.isDrained`). A read may
/// have to write first, e.g. during a key update, and a write may have to read first. The operation then becomes ready
/// again when the kernel reports that the other direction is ready.
///
/// Records without application data are counted, and a peer that sends too many consecutive ones is disconnected
/// (`RecordBudget`). After the maximum number of records in one turn of the event loop, reading continues in the next
/// turn.
///
/// Used only on the worker of its socket.
@safe public final class TLSLayer: RecordLayer {
  let connection: OpaquePointer
  /// The `TLSServer` or `TLSClient`, retained because the callbacks of the connection use it.
  private let owner: AnyObject
  /// The descriptor of the socket. The socket closes it.
  let descriptor: Int32
  var reads = SocketReads()
  private(set) var budget = RecordBudget()
  /// Called once when the peer has sent too many records without application data.
  public var floodHandler: (() -> Void)?
  /// The total number of bytes that the socket has accepted, including the handshake and the overhead of records.
  public internal(set) var written = 0
  private var readWantsWrite = false
  private var writeWantsRead = false
  var isEstablished = false
  /// True after a fatal error. Nothing may be sent after it.
  var isBroken = false
  private var hasAnnouncedEnd = false
  /// The number of bytes of a write that must be repeated with the same bytes, and a hash of the first 64 of them. The
  /// number is 0 if there is no such write.
  private var pendingWrite = (count: 0, hash: UInt64(0))

  /// Creates the server's side.
  init(_ server: TLSServer, _ socket: Socket) throws(TLSFailure) {
    owner = server
    descriptor = socket.descriptor
    unsafe connection = try TLSLayer.connection(of: server.context)
    try attach()
    // Unretained: `owner` outlives the connection.
    unsafe co_set_owner(connection, Unmanaged.passUnretained(server).toOpaque())
    unsafe SSL_set_accept_state(connection)
  }

  /// Creates the client's side.
  init(_ client: TLSClient, _ socket: Socket) throws(TLSFailure) {
    owner = client
    descriptor = socket.descriptor
    unsafe connection = try TLSLayer.connection(of: client.context)
    try attach()
    // Unretained: `owner` outlives the connection.
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
    // Unretained: the layer frees the connection in its deinitialiser.
    unsafe co_set_message_argument(connection, Unmanaged.passUnretained(self).toOpaque())
    unsafe SSL_set_msg_callback(connection) { isWritten, _, kind, bytes, count, _, layer in
      guard isWritten == 0, count > 0, let bytes = unsafe bytes, let layer = unsafe layer else { return }
      // Sound: OpenSSL calls this only within a function of the layer, so the layer exists.
      unsafe Unmanaged<TLSLayer>.fromOpaque(layer)._withUnsafeGuaranteedRef {
        $0.countRecord(kind, unsafe bytes.load(as: UInt8.self))
      }
    }
  }

  deinit {
    // Frees the only reference.
    unsafe SSL_free(connection)
  }

  // MARK: Bytes

  /// Counts a received record. OpenSSL reports the header of each record, whose first byte is the type. For an
  /// encrypted record of TLS 1.3, it then also reports the inner type.
  private func countRecord(_ kind: Int32, _ first: UInt8) {
    guard isEstablished else { return }
    switch kind {
    case SSL3_RT_HEADER: budget.countRecord()
    case SSL3_RT_INNER_CONTENT_TYPE: break
    default: return
    }
    guard Int32(first) != SSL3_RT_APPLICATION_DATA else { return }
    budget.countRecordWithoutData()
    // This makes OpenSSL stop. Otherwise it would process all records that it has read ahead.
    if budget.isFlooded { unsafe SSL_set_shutdown(connection, SSL_RECEIVED_SHUTDOWN) }
  }

  /// Receives decrypted bytes. If the connection ends without an announcement by the peer (`close_notify`), the result
  /// is a failure, because bytes may be missing.
  public func receive(into buffer: Buffer, _ socket: Socket) -> Transfer {
    guard !isBroken else { return .failed(.reset) }
    budget.begin(turn: socket.poller.turn)
    if budget.isUsedUpThisTurn {
      socket.holdBackReading()
      return .wouldBlock
    }
    let received = unsafe buffer.fill { bytes, room in
      // `fill` passes the free room of the buffer.
      Int64(read { unsafe SSL_read(connection, bytes, Int32(clamping: room)) })
    }
    guard received > 0 else { return handleFailedRead(Int32(clamping: received), socket) }
    // If the kernel has reported a hang-up, the socket stays readable, as without TLS. An end or an error may follow
    // the bytes.
    if reads.isDrained, unsafe SSL_has_pending(connection) == 0, socket.readiness.isDisjoint(with: .mayHideMore) {
      socket.readiness.remove(.readable)
    }
    return .moved(Int(received))
  }

  /// Returns true if `receive` would return application data, an end or a failure. Processes the records without
  /// application data that precede this result.
  public func hasInput(_ socket: Socket) -> Bool {
    guard !isBroken else { return true }
    budget.begin(turn: socket.poller.turn)
    var byte: UInt8 = 0
    let result = read { unsafe SSL_peek(connection, &byte, 1) }
    return result > 0 || handleFailedRead(result, socket) != .wouldBlock
  }

  /// Repeats `call`, a read of OpenSSL, until it returns application data or fails, the socket has no more bytes, or
  /// `budget` permits no further record. Returns the last result.
  private func read(_ call: () -> Int32) -> Int32 {
    defer { reads.removeLimit() }
    while true {
      TLSLibrary.clearErrors()
      reads.setLimit()
      let result = call()
      if result > 0 {
        budget.receivedData()
        return result
      }
      let isStopped = reads.foundNoBytes || reads.isLimitReached || budget.isFlooded || budget.isUsedUpThisTurn
      guard !isStopped, unsafe SSL_get_error(connection, result) == SSL_ERROR_WANT_READ else { return result }
    }
  }

  /// Returns the result for the caller if OpenSSL returned no bytes, and updates the readiness of the socket.
  private func handleFailedRead(_ result: Int32, _ socket: Socket) -> Transfer {
    if budget.isFlooded {
      floodHandler?()
      return fail(socket)
    }
    switch unsafe SSL_get_error(connection, result) {
    case SSL_ERROR_WANT_READ where !reads.foundNoBytes:
      // The socket or OpenSSL may have more bytes, but the kernel will report no event for them.
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
      // An end without `close_notify` is a failure too (RFC 8446, section 6.1). Otherwise a receiver that reads to the
      // end would accept truncated data as complete.
      return fail(socket)
    }
  }

  /// Encrypts and sends at most `count` bytes of the buffer, and removes the sent bytes from the buffer.
  public func send(_ buffer: Buffer, upTo count: Int, _ socket: Socket) -> Transfer {
    guard !isBroken, !hasAnnouncedEnd else { return .failed(.reset) }
    guard count > 0 else { return .wouldBlock }
    if pendingWrite.count > 0,
      count < pendingWrite.count || TLSLayer.hash(of: buffer, upTo: pendingWrite.count) != pendingWrite.hash
    {
      // OpenSSL has not finished an earlier write and must get the bytes of that write again, but `buffer` has others.
      return fail(socket)
    }
    TLSLibrary.clearErrors()
    let sent = unsafe buffer.withReadable { bytes in
      // `count` is within the bytes of the buffer, as for a plaintext send.
      unsafe SSL_write(connection, bytes, Int32(clamping: count))
    }
    if sent > 0 {
      pendingWrite.count = 0
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
    pendingWrite = (count, TLSLayer.hash(of: buffer, upTo: count))
    return .wouldBlock
  }

  /// Returns a hash (FNV-1a) of the first `count` bytes, but of at most 64. If a write is pending, the hash shows if
  /// the caller repeats this write or sends another message. A caller repeats each pending write except that of an
  /// interim response (100, 103). It sends no second interim response with the same status then, and the hash covers the
  /// status line, in which the next message differs.
  private static func hash(of buffer: Buffer, upTo count: Int) -> UInt64 {
    buffer.withSpan { bytes in
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for index in 0..<min(64, count) { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
      return hash
    }
  }

  /// Marks the connection as broken. Returns the failure.
  private func fail(_ socket: Socket) -> Transfer {
    isBroken = true
    ERR_clear_error()
    socket.readiness.insert(.broken)
    return .failed(.reset)
  }

  /// Returns the operations that wait for the other direction and become possible when the kernel reports `bits`.
  public func readiness(after bits: Readiness) -> Readiness {
    var ready: Readiness = []
    // The kernel has bytes again. If `isDrained` stayed true, a `receive` that gets the rest of a record from OpenSSL
    // without a read of the socket would clear the readiness, and no further event would report these bytes.
    if bits.contains(.readable) { reads.isDrained = false }
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

  /// Sends a KeyUpdate (RFC 8446, section 4.6.3). Returns false if the socket does not accept it at once, or if the
  /// version is TLS 1.2, which has no KeyUpdate.
  package func updateKeys() -> Bool {
    TLSLibrary.clearErrors()
    defer { ERR_clear_error() }
    return unsafe SSL_key_update(connection, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 && SSL_do_handshake(connection) == 1
  }

  // MARK: The end

  /// Sends `close_notify` (RFC 8446, section 6.1). Does nothing if this has been done before, if the handshake is
  /// incomplete, if the connection is broken, or if a write must be repeated.
  public func announceEnd() {
    guard isEstablished, !isBroken, !hasAnnouncedEnd, pendingWrite.count == 0 else { return }
    hasAnnouncedEnd = true
    ERR_clear_error()
    // The message is lost if the socket does not accept it at once. The `close_notify` of the peer is not awaited.
    _ = unsafe SSL_shutdown(connection)
    ERR_clear_error()
  }

  /// Ends the connection without `close_notify`.
  public func abandon() {
    isBroken = true
  }
}
