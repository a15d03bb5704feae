internal import CLinux
internal import COpenSSL
import Reactor

/// The transport (`BIO`) through which OpenSSL reads and writes the socket of a connection.
///
/// OpenSSL's own socket transport does not report whether a read has returned all bytes of the socket. This transport
/// sets `SocketReads.isDrained` if a read has done so. So after a complete message, no second read is needed to find
/// that there are no more bytes.
enum TLSTransport {
  // Sound: the method is created once and then only read.
  private nonisolated(unsafe) static let method: OpaquePointer? = {
    guard let method = unsafe BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket") else { return nil }
    _ = unsafe BIO_meth_set_read(method) { unsafe TLSTransport.read($0, $1, $2) }
    _ = unsafe BIO_meth_set_write(method) { unsafe TLSTransport.write($0, $1, $2) }
    _ = unsafe BIO_meth_set_ctrl(method) { transport, command, _, _ in
      switch command {
      // The transport has no buffer.
      case BIO_CTRL_FLUSH: 1
      case BIO_CTRL_EOF: unsafe BIO_test_flags(transport, BIO_FLAGS_IN_EOF) == 0 ? 0 : 1
      // OpenSSL accepts 0 as the answer to all other commands.
      default: 0
      }
    }
    return unsafe method
  }()

  /// True if the transport can be used; false if there was no memory for it at its first use.
  static var isReady: Bool { unsafe method != nil }

  /// Connects `connection` to the socket of the layer. Returns false if memory cannot be allocated.
  static func attach(_ connection: OpaquePointer, to layer: TLSLayer) -> Bool {
    guard let transport = unsafe BIO_new(method) else { return false }
    // Unretained: the layer frees the connection, and with it the transport, in its deinitialiser.
    unsafe BIO_set_data(transport, Unmanaged.passUnretained(layer).toOpaque())
    // The connection uses the transport for both directions, and owns the one reference to it.
    unsafe SSL_set_bio(connection, transport, transport)
    return true
  }

  private static func read(_ transport: OpaquePointer?, _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int32) -> Int32
  {
    guard let transport = unsafe transport, let bytes = unsafe bytes, let data = unsafe BIO_get_data(transport) else {
      return -1
    }
    // Sound: OpenSSL calls this only within a function of the layer, so the layer exists.
    let layer = unsafe Unmanaged<TLSLayer>.fromOpaque(data)
    unsafe BIO_clear_flags(transport, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
    let mayRead = unsafe layer._withUnsafeGuaranteedRef { $0.reads.countRead() }
    guard mayRead else {
      unsafe BIO_set_flags(transport, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
      return -1
    }
    let descriptor = unsafe layer._withUnsafeGuaranteedRef { $0.descriptor }
    let received = unsafe cl_receive(descriptor, bytes, Int(count))
    unsafe layer._withUnsafeGuaranteedRef { $0.reads.isDrained = received < count }
    if received > 0 { return Int32(clamping: received) }
    if received == 0 {
      unsafe BIO_set_flags(transport, BIO_FLAGS_IN_EOF)
      return 0
    }
    if IOError(code: Int32(clamping: -received)) == .wouldBlock {
      unsafe layer._withUnsafeGuaranteedRef { $0.reads.foundNoBytes = true }
      unsafe BIO_set_flags(transport, BIO_FLAGS_READ | BIO_FLAGS_SHOULD_RETRY)
    }
    return -1
  }

  private static func write(_ transport: OpaquePointer?, _ bytes: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    guard let transport = unsafe transport, let bytes = unsafe bytes, let data = unsafe BIO_get_data(transport) else {
      return -1
    }
    // Sound: OpenSSL calls this only within a function of the layer, so the layer exists.
    unsafe BIO_clear_flags(transport, BIO_FLAGS_READ | BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
    let sent = unsafe Unmanaged<TLSLayer>.fromOpaque(data)._withUnsafeGuaranteedRef { layer in
      let sent = unsafe cl_send(layer.descriptor, bytes, Int(count))
      if sent > 0 { layer.written += Int(sent) }
      return sent
    }
    if sent > 0 { return Int32(clamping: sent) }
    if sent == 0 || IOError(code: Int32(clamping: -sent)) == .wouldBlock {
      unsafe BIO_set_flags(transport, BIO_FLAGS_WRITE | BIO_FLAGS_SHOULD_RETRY)
    }
    return -1
  }
}
