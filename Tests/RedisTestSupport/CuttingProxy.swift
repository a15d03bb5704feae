import Glibc
import Synchronization
import Testing

/// A TCP proxy on loopback that delays the replies of a server, cuts them off, or hides scripts, as a test requires.
///
/// It uses blocking threads, because a test has few connections.
public final class CuttingProxy: Sendable {
  /// The treatment of the replies.
  public enum Rule: Sendable {
    /// The replies are forwarded.
    case pass
    /// Each piece is forwarded after this many milliseconds.
    case delay(Int)
    /// This many bytes of the next replies are forwarded. Then the connection ends, and the rule becomes `pass`.
    case cut(after: Int)
    /// The next reply is an array that the proxy makes, one element each 20 milliseconds. After 2,000 elements the
    /// connection ends, and the rule becomes `pass`.
    case endless
  }

  /// The port of the proxy.
  public let port: Int
  private let target: Int
  private let listener: Int32
  private let state = Mutex(State())

  private struct State {
    var rule = Rule.pass
    var hidesScripts = false
    var connections = 0
    var descriptors: Set<Int32> = []
  }

  /// Starts to forward connections to `target` on loopback.
  public init(to target: Int) throws {
    self.target = target
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = CuttingProxy.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(descriptor, pointer, length) == 0 && getsockname(descriptor, pointer, &length) == 0
          && listen(descriptor, 64) == 0
      }
    }
    try #require(isListening)
    port = Int(UInt16(bigEndian: address.sin_port))
    CuttingProxy.thread { [self] in accept() }
  }

  /// The rule for all later replies.
  public var rule: Rule {
    get { state.withLock { $0.rule } }
    set { state.withLock { $0.rule = newValue } }
  }

  /// True if the server gets each script as if it were the digest of one, which it does not know.
  public var hidesScripts: Bool {
    get { state.withLock { $0.hidesScripts } }
    set { state.withLock { $0.hidesScripts = newValue } }
  }

  /// The number of connections since the start.
  public var connections: Int { state.withLock { $0.connections } }

  /// Ends all connections and accepts no new ones.
  public func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    let descriptors = state.withLock { $0.descriptors }
    for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { break }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = CuttingProxy.loopback(target)
      let isConnected = unsafe withUnsafeMutablePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          unsafe connect(server, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected else {
        close(client)
        close(server)
        continue
      }
      state.withLock {
        $0.connections += 1
        $0.descriptors.formUnion([client, server])
      }
      let pair = Pair()
      CuttingProxy.thread { [self] in copy(from: client, to: server, pair, isReply: false) }
      CuttingProxy.thread { [self] in copy(from: server, to: client, pair, isReply: true) }
    }
    close(listener)
  }

  /// Two directions of a connection; the one that ends last closes it.
  private final class Pair: Sendable {
    private let open = Mutex(2)

    func end() -> Bool {
      open.withLock {
        $0 -= 1
        return $0 == 0
      }
    }
  }

  private func copy(from source: Int32, to target: Int32, _ pair: Pair, isReply: Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    /// The bytes that were forwarded since the rule was set.
    var forwarded = 0
    loop: while true {
      let capacity = buffer.count
      let received = unsafe read(source, &buffer, capacity)
      guard received > 0 else { break }
      var count = received
      if isReply {
        switch rule {
        case .pass: forwarded = -received
        case .delay(let milliseconds):
          forwarded = -received
          usleep(UInt32(milliseconds) * 1_000)
        case .cut(let most):
          count = min(received, max(0, most - forwarded))
          if count < received { rule = .pass }
        case .endless:
          sendEndless(to: target)
          break loop
        }
      }
      if !isReply, hidesScripts {
        let command = Array("$4\r\nEVAL\r\n".utf8)
        while let start = (0..<max(0, count - command.count + 1)).first(where: { buffer[$0...].starts(with: command) })
        {
          buffer.replaceSubrange(start..<start + command.count, with: "$7\r\nEVALSHA\r\n".utf8)
          count += 3
        }
        guard unsafe send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break loop }
        continue
      }
      forwarded += count
      guard unsafe count == 0 || send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count, count == received
      else { break loop }
    }
    shutdown(source, Int32(SHUT_RDWR))
    shutdown(target, Int32(SHUT_RDWR))
    guard pair.end() else { return }
    state.withLock { $0.descriptors.subtract([source, target]) }
    close(source)
    close(target)
  }

  private func sendEndless(to target: Int32) {
    var text = Array("*8000\r\n".utf8)
    for _ in 0..<2_000 {
      guard unsafe send(target, text, text.count, Int32(MSG_NOSIGNAL)) == text.count else { return }
      text = Array(":1\r\n".utf8)
      usleep(20_000)
    }
    rule = .pass
  }

  private static func thread(_ body: @escaping @Sendable () -> Void) {
    let box = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
    var thread = pthread_t()
    let result = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box)
    if result == 0 { pthread_detach(thread) } else { Issue.record("no thread for the proxy") }
  }

  private final class Body {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
