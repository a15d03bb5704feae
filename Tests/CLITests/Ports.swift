import Reactor
import Testing

/// Loopback ports for a child process.
enum Ports {
  /// Ports that were free a moment ago, below the range from which the kernel gives ports to other programs: a port of
  /// that range could be in use again before the child binds it.
  static func free(_ count: Int) throws -> [Int] {
    var sockets: [ListeningSocket] = []
    defer { for socket in sockets { socket.close() } }
    for _ in 0..<1_000 where sockets.count < count {
      let address = try #require(Address(literal: "127.0.0.1", port: Int.random(in: 10_000..<32_000)))
      sockets += (try? ListeningSocket.bind(address, count: 1, id: 0)) ?? []
    }
    try #require(sockets.count == count)
    return sockets.map(\.address.port)
  }

  /// A port that stays in use until the socket is closed.
  static func taken() throws -> ListeningSocket {
    let address = try #require(Address(literal: "127.0.0.1", port: 0))
    return try #require(try ListeningSocket.bind(address, count: 1, id: 0).first)
  }
}
