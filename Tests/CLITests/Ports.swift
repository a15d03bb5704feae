import PortTestSupport
import Reactor
import Synchronization
import Testing

/// Loopback ports for a child process.
enum Ports {
  private static let reserved = Mutex<[ReservedPort]>([])

  /// Ports on which no server listens until a child of the test binds them. No other program gets them meanwhile.
  static func free(_ count: Int) throws -> [Int] {
    var ports: [ReservedPort] = []
    for _ in 0..<count { ports.append(try ReservedPort()) }
    reserved.withLock { kept in
      kept += ports
      // Those of tests that have ended: a test has far fewer.
      kept.removeFirst(max(0, kept.count - 256))
    }
    return ports.map(\.number)
  }

  /// A port that stays in use until the socket is closed.
  static func taken() throws -> ListeningSocket {
    let address = try #require(Address(literal: "127.0.0.1", port: 0))
    return try #require(try ListeningSocket.bind(address, count: 1, id: 0).first)
  }
}
